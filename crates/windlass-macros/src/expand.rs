//! From the parts of a function to a `TypedTool`.

use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::spanned::Spanned as _;
use syn::{
    Attribute, Error, Expr, ExprLit, GenericArgument, Ident, Lit, LitStr, Meta, PathArguments, PathSegment,
    Result, ReturnType, Signature, Type,
};

use crate::parameters::{Argument, Parameter, Parameters, bare};
use crate::properties::Properties;

/// Silences lints about the shape of a handler, which is not its author's choice: arguments are owned, state is
/// borrowed, and `async` may be there for what comes later.
pub(crate) fn dictated() -> Attribute {
    syn::parse_quote!(
        #[allow(clippy::needless_pass_by_value, clippy::trivially_copy_pass_by_ref, clippy::unused_async)]
    )
}

/// Where a handler finds its state.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Receiver {
    /// Each state parameter in a field of its own.
    Fields,
    /// All of it behind `self`.
    Itself,
}

/// What a tool is made of.
pub(crate) struct Parts<'a> {
    pub(crate) properties: &'a Properties,
    pub(crate) name: &'a Ident,
    pub(crate) attributes: &'a [Attribute],
    pub(crate) signature: &'a Signature,
    pub(crate) parameters: &'a Parameters,
    /// The function that does the work.
    pub(crate) call: TokenStream,
    pub(crate) receiver: Receiver,
}

impl Parts<'_> {
    /// The path of the crate that generated code refers to.
    pub(crate) fn root(&self) -> TokenStream {
        match &self.properties.root {
            Some(path) => quote!(#path::__private),
            None => quote!(::windlass::__private),
        }
    }

    /// The value, as an artifact tool if it is one.
    pub(crate) fn wrapped(&self, tool: TokenStream) -> TokenStream {
        let root = self.root();
        if self.properties.is_artifact_tool { quote!(#root::ArtifactTool::new(#tool)) } else { tool }
    }

    /// What the handler gives: the type inside `Result`, if it can fail.
    pub(crate) fn output_type(&self) -> Result<TokenStream> {
        let ReturnType::Type(_, ty) = &self.signature.output else { return Ok(quote!(())) };
        match bare(ty) {
            Type::ImplTrait(ty) => Err(Error::new_spanned(
                ty,
                "the result of a tool has a name; write its type instead of `impl …`",
            )),
            Type::Reference(ty) if !is_static(ty) => Err(Error::new_spanned(
                ty,
                "the result outlives the call; return it owned, for example as a `String`",
            )),
            ty => {
                let Some(result) = result(ty) else { return Ok(quote!(#ty)) };
                if let Some(error) = failure(result).filter(|error| is_text(error)) {
                    let message = "a text is no error; write `Result<…, ToolError>` and make it with `ToolError::failed(text)`, \
                                   or with `ToolError::retry(text)` if the model should call again";
                    return Err(Error::new_spanned(error, message));
                }
                match success(result) {
                    Some(output) => Ok(quote!(#output)),
                    None => Err(Error::new_spanned(
                        ty,
                        "write the result as `Result<T, ToolError>`, with its `T`",
                    )),
                }
            }
        }
    }

    fn can_fail(&self) -> bool {
        matches!(&self.signature.output, ReturnType::Type(_, ty) if result(ty).is_some())
    }

    fn description(&self) -> Result<TokenStream> {
        if let Some(description) = &self.properties.description {
            return Ok(quote!(#description));
        }
        if let Some(text) = included_documentation(self.attributes) {
            return Ok(quote!(__windlass::description(#text)));
        }
        let text = documentation(self.attributes);
        if text.is_empty() {
            let message = "a model knows a tool by its description; write a doc comment above the function, \
                           for example `/// Current weather in a city.`";
            return Err(Error::new(self.name.span(), message));
        }
        let text = LitStr::new(&text, self.name.span());
        Ok(quote!(#text))
    }

    fn tool_name(&self) -> LitStr {
        use syn::ext::IdentExt as _;
        let own = || LitStr::new(&self.name.unraw().to_string(), self.name.span());
        self.properties.name.clone().unwrap_or_else(own)
    }
}

fn is_static(reference: &syn::TypeReference) -> bool {
    reference.lifetime.as_ref().is_some_and(|lifetime| lifetime.ident == "static")
}

/// The last part of a type that is named `Result`.
fn result(ty: &Type) -> Option<&PathSegment> {
    let Type::Path(path) = bare(ty) else { return None };
    path.path.segments.last().filter(|last| last.ident == "Result")
}

/// The `T` of a `Result<T, …>`.
fn success(result: &PathSegment) -> Option<&Type> {
    types(result).next()
}

/// The `E` of a `Result<…, E>`.
fn failure(result: &PathSegment) -> Option<&Type> {
    types(result).nth(1)
}

fn types(segment: &PathSegment) -> impl Iterator<Item = &Type> {
    let arguments = match &segment.arguments {
        PathArguments::AngleBracketed(arguments) => Some(&arguments.args),
        _ => None,
    };
    arguments.into_iter().flatten().filter_map(|argument| match argument {
        GenericArgument::Type(ty) => Some(ty),
        _ => None,
    })
}

fn is_text(ty: &Type) -> bool {
    match bare(ty) {
        Type::Path(path) => path.path.segments.last().is_some_and(|last| last.ident == "String"),
        Type::Reference(reference) => {
            matches!(bare(&reference.elem), Type::Path(path) if path.path.is_ident("str"))
        }
        _ => false,
    }
}

/// The text of doc comments: without the space after the slashes, without empty lines around it.
pub(crate) fn documentation(attributes: &[Attribute]) -> String {
    let lines: Vec<String> = attributes
        .iter()
        .filter_map(|attribute| match &attribute.meta {
            Meta::NameValue(pair) if pair.path.is_ident("doc") => match &pair.value {
                Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Some(text.value()),
                _ => None,
            },
            _ => None,
        })
        .map(|line| line.strip_prefix(' ').unwrap_or(&line).trim_end().to_owned())
        .collect();
    lines.join("\n").trim().to_owned()
}

/// Documentation of which a part is made by a macro, such as `include_str!`: all of it, put together by the
/// compiler.
fn included_documentation(attributes: &[Attribute]) -> Option<TokenStream> {
    let parts: Vec<&Expr> = attributes
        .iter()
        .filter_map(|attribute| match &attribute.meta {
            Meta::NameValue(pair) if pair.path.is_ident("doc") => Some(&pair.value),
            _ => None,
        })
        .collect();
    let is_plain = |part: &&Expr| matches!(part, Expr::Lit(ExprLit { lit: Lit::Str(_), .. }));
    (!parts.iter().all(is_plain)).then(|| quote!(::core::concat!(#(#parts, "\n"),*)))
}

/// The struct of the arguments, the struct of the state, and the implementation of `TypedTool`.
pub(crate) fn handler(parts: &Parts<'_>) -> Result<TokenStream> {
    let root = parts.root();
    let arguments = arguments_struct(parts)?;
    let output = parts.output_type()?;
    let definition = definition(parts)?;
    let call = call(parts)?;
    let check = check(parts);
    // A result under another name would pass for a value, and its error for a success.
    let spelled_out = (!parts.can_fail()).then(|| {
        quote! {
            const _: () = {
                use __windlass::NotAResult as _;
                assert!(
                    !__windlass::Returned::<#output>::IS_RESULT,
                    "this is a `Result` under another name; write it as `Result<T, ToolError>`",
                );
            };
        }
    });
    let fields = parts.parameters.states().map(|(name, ty)| quote!(#name: ::std::sync::Arc<#ty>));
    let state = match parts.receiver {
        Receiver::Fields => quote!(struct __WindlassTool { #(#fields),* }),
        Receiver::Itself => quote!(),
    };
    Ok(quote! {
        #arguments
        #state
        const _: () = {
            use #root as __windlass;
            #spelled_out
            #[automatically_derived]
            #[allow(clippy::all, clippy::pedantic, clippy::nursery)]
            impl __windlass::TypedTool for __WindlassTool {
                type Args = __WindlassArgs;
                type Output = #output;

                #definition

                fn input_schema(&self) -> __windlass::schemars::Schema {
                    __windlass::input_schema_without_title::<__WindlassArgs>()
                }

                #check
                #call
            }
        };
    })
}

fn arguments_struct(parts: &Parts<'_>) -> Result<TokenStream> {
    let root = parts.root();
    let path = |name: &str| LitStr::new(&format!("{root}::{name}").replace(' ', ""), Span::call_site());
    let (serde, schemars) = (path("serde"), path("schemars"));
    let mut fields = Vec::new();
    let mut defaults = Vec::new();
    let mut is_open = false;
    for (index, argument) in parts.parameters.arguments().enumerate() {
        let Argument { name, ty, attributes, properties } = argument;
        is_open |= serde_words(attributes)?.1;
        let default = properties.default.as_ref().map(|value| {
            let function = format_ident!("__windlass_default_{index}");
            let text = LitStr::new(&function.to_string(), value.span());
            let value = match value {
                Expr::Lit(ExprLit { lit: Lit::Str(_), .. }) if is_option(ty) => {
                    quote!(::core::option::Option::Some(::core::convert::Into::into(#value)))
                }
                Expr::Lit(ExprLit { lit: Lit::Str(_), .. }) => quote!(::core::convert::Into::into(#value)),
                value => quote!(#value),
            };
            defaults.push(quote_spanned!(value.span() => fn #function() -> #ty { #value }));
            quote!(#[serde(default = #text)])
        });
        fields.push(quote!(#(#attributes)* #default #name: #ty));
    }
    // Flattened arguments may bring names of their own, which serde cannot know.
    let closed = (!is_open).then(|| quote!(#[serde(deny_unknown_fields)]));
    Ok(quote! {
        #(#defaults)*
        #[derive(#root::serde::Deserialize, #root::schemars::JsonSchema)]
        #[serde(crate = #serde)]
        #[schemars(crate = #schemars)]
        #closed
        struct __WindlassArgs { #(#fields),* }
    })
}

fn is_option(ty: &Type) -> bool {
    matches!(bare(ty), Type::Path(path) if path.path.segments.last().is_some_and(|last| last.ident == "Option"))
}

/// The name that serde gives to an argument, and whether it is flattened.
fn serde_words(attributes: &[Attribute]) -> Result<(Option<String>, bool)> {
    let (mut rename, mut is_flat) = (None, false);
    for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("serde")) {
        attribute.parse_nested_meta(|meta| {
            if meta.path.is_ident("rename") && meta.input.peek(syn::Token![=]) {
                rename = Some(meta.value()?.parse::<LitStr>()?.value());
            } else if meta.path.is_ident("rename") {
                meta.parse_nested_meta(|side| {
                    let name = side.value()?.parse::<LitStr>()?.value();
                    if side.path.is_ident("deserialize") {
                        rename = Some(name);
                    }
                    Ok(())
                })?;
            } else if meta.path.is_ident("flatten") {
                is_flat = true;
            } else if meta.input.peek(syn::Token![=]) {
                meta.value()?.parse::<Expr>()?;
            } else if meta.input.peek(syn::token::Paren) {
                let inner;
                syn::parenthesized!(inner in meta.input);
                inner.parse::<TokenStream>()?;
            }
            Ok(())
        })?;
    }
    Ok((rename, is_flat))
}

fn definition(parts: &Parts<'_>) -> Result<TokenStream> {
    use syn::ext::IdentExt as _;
    let (name, description, effect) = (parts.tool_name(), parts.description()?, parts.properties.effect()?);
    let methods = &parts.properties.methods;
    let mut marks = Vec::new();
    for argument in parts.parameters.arguments() {
        let renamed = serde_words(&argument.attributes)?.0;
        let name = renamed.unwrap_or_else(|| argument.name.unraw().to_string());
        if argument.properties.is_destination {
            marks.push(quote!(.destination(#name)));
        }
        if argument.properties.is_secret {
            marks.push(quote!(.secret(#name)));
        }
    }
    let reconcile = parts.properties.reconcile.as_ref().map(|path| {
        let fields: Vec<_> = parts.parameters.states().map(|(name, _)| name).collect();
        let names: Vec<_> = fields.iter().map(|name| format_ident!("__windlass_state_{name}")).collect();
        match parts.receiver {
            Receiver::Fields => quote! {
                .reconcile({
                    #(let #names = self.#fields.clone();)*
                    move |__windlass_interrupted| {
                        #(let #names = #names.clone();)*
                        async move { #path(#(&#names,)* __windlass_interrupted).await }
                    }
                })
            },
            Receiver::Itself => quote! {
                .reconcile({
                    let __windlass_state = self.0.clone();
                    move |__windlass_interrupted| {
                        let __windlass_state = __windlass_state.clone();
                        async move { #path(&*__windlass_state, __windlass_interrupted).await }
                    }
                })
            },
        }
    });
    Ok(quote! {
        fn definition(&self) -> __windlass::Definition {
            __windlass::Definition::new(#name, #description, __windlass::Effect::#effect)
                #(.#methods)* #(#marks)* #reconcile
        }
    })
}

fn check(parts: &Parts<'_>) -> Option<TokenStream> {
    let path = parts.properties.check.as_ref()?;
    let states = states(parts);
    let names = parts.parameters.arguments().map(|argument| &argument.name);
    Some(quote! {
        async fn check(
            &self,
            __windlass_args: &__WindlassArgs,
        ) -> ::core::result::Result<(), __windlass::Refusal> {
            #path(#(#states,)* #(&__windlass_args.#names),*).await
        }
    })
}

/// The state, as references.
fn states(parts: &Parts<'_>) -> Vec<TokenStream> {
    match parts.receiver {
        Receiver::Fields => parts.parameters.states().map(|(name, _)| quote!(&*self.#name)).collect(),
        Receiver::Itself => vec![quote!(&*self.0)],
    }
}

fn call(parts: &Parts<'_>) -> Result<TokenStream> {
    let output = parts.output_type()?;
    let names: Vec<_> = parts.parameters.arguments().map(|argument| &argument.name).collect();
    let own = match parts.receiver {
        Receiver::Fields => None,
        Receiver::Itself => Some(quote!(&*self.0)),
    };
    let given = parts.parameters.0.iter().map(|parameter| match parameter {
        Parameter::State { name, .. } => quote!(&*self.#name),
        Parameter::Context => quote!(__windlass_context),
        Parameter::Argument(argument) => {
            let name = &argument.name;
            quote!(#name)
        }
    });
    let given = own.into_iter().chain(given);
    let function = &parts.call;
    let awaited = parts.signature.asyncness.map(|_| quote!(.await));
    let result = quote!(#function(#(#given),*) #awaited);
    let result = if parts.can_fail() {
        // Where the error is none, the return type is to blame.
        let try_it = quote_spanned!(parts.signature.output.span() => ?);
        quote!(::core::result::Result::Ok(#result #try_it))
    } else {
        quote!(::core::result::Result::Ok(#result))
    };
    Ok(quote! {
        async fn call(
            &self,
            __windlass_args: __WindlassArgs,
            __windlass_context: &__windlass::ToolContext,
        ) -> ::core::result::Result<#output, __windlass::ToolError> {
            let _ = __windlass_context;
            let __WindlassArgs { #(#names),* } = __windlass_args;
            #result
        }
    })
}
