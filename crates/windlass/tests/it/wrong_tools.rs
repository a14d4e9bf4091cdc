//! Wrong tools do not compile, and the compiler says what to write instead.

#[test]
fn a_wrong_tool_does_not_compile_and_the_reason_is_told() {
    trybuild::TestCases::new().compile_fail("tests/wrong/*.rs");
}
