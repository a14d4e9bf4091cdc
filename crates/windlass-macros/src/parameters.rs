//! What the parameters of a function are: state, context, arguments.

use quote::quote;
use syn::{Attribute, Error, FnArg, Ident, Pat, PathArguments, PathSegment, Result, Signature, Type};

use crate::properties::ArgumentProperties;

/// The parameters of a handler, by what they are.
pub(crate) struct Parameters(pub(crate) Vec<Parameter>);

pub(crate) enum Parameter {
    State { name: Ident, ty: Box<Type> },
    Context,
    Argument(Box<Argument>),
}

/// Something that the model sends.
pub(crate) struct Argument {
    pub(crate) name: Ident,
    pub(crate) ty: Type,
    /// Its doc comment, and what serde and schemars are told about it.
    pub(crate) attributes: Vec<Attribute>,
    pub(crate) properties: ArgumentProperties,
}

impl Parameters {
    pub(crate) fn states(&self) -> impl Iterator<Item = (&Ident, &Type)> {
        self.0.iter().filter_map(|parameter| match parameter {
            Parameter::State { name, ty } => Some((name, &**ty)),
            _ => None,
        })
    }

    pub(crate) fn arguments(&self) -> impl Iterator<Item = &Argument> {
        self.0.iter().filter_map(|parameter| match parameter {
            Parameter::Argument(argument) => Some(&**argument),
            _ => None,
        })
    }
}

/// Reads the parameters and takes from them what only this macro understands.
pub(crate) fn take_parameters(signature: &mut Signature) -> Result<Parameters> {
    refuse_what_no_model_can_call(signature)?;
    let mut parameters = Vec::new();
    for input in &mut signature.inputs {
        if let FnArg::Typed(input) = input {
            parameters.push(take_parameter(input)?);
        }
    }
    Ok(Parameters(parameters))
}

fn refuse_what_no_model_can_call(signature: &Signature) -> Result<()> {
    if !signature.generics.params.is_empty() {
        let message = "a tool has one schema, so its function cannot be generic; write the types that it is called with";
        return Err(Error::new_spanned(&signature.generics.params, message));
    }
    if let Some(clause) = &signature.generics.where_clause {
        return Err(Error::new_spanned(
            clause,
            "a tool is not generic, so there is nothing to bound; leave it out",
        ));
    }
    if let Some(word) = &signature.unsafety {
        return Err(Error::new_spanned(
            word,
            "a model calls a tool with whatever it likes; it cannot be `unsafe`",
        ));
    }
    if let Some(word) = &signature.constness {
        return Err(Error::new_spanned(word, "a tool runs when a model calls it; it cannot be `const`"));
    }
    if let Some(word) = &signature.variadic {
        return Err(Error::new_spanned(word, "a tool's arguments have names; take a list"));
    }
    Ok(())
}

/// A type without the parentheses and the invisible groups around it.
pub(crate) fn bare(mut ty: &Type) -> &Type {
    loop {
        ty = match ty {
            Type::Paren(inner) => &inner.elem,
            Type::Group(inner) => &inner.elem,
            ty => return ty,
        };
    }
}

/// True for `Arc<T>` and `Rc<T>`.
fn is_shared(path: &syn::TypePath) -> bool {
    let has_type = |last: &PathSegment| matches!(last.arguments, PathArguments::AngleBracketed(_));
    (is_named(path, "Arc") || is_named(path, "Rc")) && path.path.segments.last().is_some_and(has_type)
}

fn is_named(path: &syn::TypePath, name: &str) -> bool {
    path.path.segments.last().is_some_and(|last| last.ident == name)
}

/// True for `&ToolContext`.
fn is_context(ty: &Type) -> bool {
    let Type::Reference(reference) = bare(ty) else { return false };
    let Type::Path(path) = bare(&reference.elem) else { return false };
    is_named(path, "ToolContext")
}

fn take_parameter(input: &mut syn::PatType) -> Result<Parameter> {
    if is_context(&input.ty) && input.attrs.is_empty() {
        return Ok(Parameter::Context);
    }
    let Pat::Ident(pattern) = &*input.pat else {
        return Err(Error::new_spanned(
            &input.pat,
            "give this argument a name: the model sends it under that name",
        ));
    };
    let name = pattern.ident.clone();
    let attributes = std::mem::take(&mut input.attrs);
    match bare(&input.ty) {
        Type::Reference(reference) => {
            if let Some(word) = &reference.mutability {
                let message = "state is shared by calls that run at the same time; take `&` and put what changes into a `Mutex`";
                return Err(Error::new_spanned(word, message));
            }
            if let Some(attribute) = attributes.first() {
                let message = "this is state, because it is a reference; the model does not see it. \
                               An argument is owned: take it without `&`";
                return Err(Error::new_spanned(attribute, message));
            }
            match bare(&reference.elem) {
                Type::ImplTrait(ty) => Err(Error::new_spanned(
                    ty,
                    "state has one type; write it instead of `impl …`, or take `&dyn …`",
                )),
                Type::Path(path) if path.path.is_ident("str") => Err(Error::new_spanned(
                    reference,
                    "an argument is owned: write `String` instead of `&str`",
                )),
                Type::Slice(slice) => {
                    let item = &slice.elem;
                    let message =
                        format!("an argument is owned: write `Vec<{}>` instead of a slice", quote!(#item));
                    Err(Error::new_spanned(reference, message))
                }
                ty => Ok(Parameter::State { name, ty: Box::new(ty.clone()) }),
            }
        }
        Type::ImplTrait(ty) => Err(Error::new_spanned(
            ty,
            "a tool has one schema, so an argument has one type; write it instead of `impl …`",
        )),
        Type::Path(path) if is_named(path, "ToolContext") => {
            Err(Error::new_spanned(path, "the context is borrowed: write `&ToolContext`"))
        }
        Type::Path(path) if is_shared(path) => Err(Error::new_spanned(
            path,
            "a model cannot send this; state is borrowed: write `&T` instead of `Arc<T>`",
        )),
        ty => {
            let ty = ty.clone();
            let (attributes, properties) = argument_attributes(attributes)?;
            Ok(Parameter::Argument(Box::new(Argument { name, ty, attributes, properties })))
        }
    }
}

fn argument_attributes(attributes: Vec<Attribute>) -> Result<(Vec<Attribute>, ArgumentProperties)> {
    let mut kept = Vec::new();
    let mut properties = ArgumentProperties::default();
    for attribute in attributes {
        let is = |name: &str| attribute.path().is_ident(name);
        if is("arg") {
            properties.read(&attribute)?;
        } else if ["doc", "serde", "schemars", "allow", "expect"].iter().any(|name| is(name)) {
            kept.push(attribute);
        } else {
            let message = "an argument takes a doc comment, `#[arg(…)]`, `#[serde(…)]` and `#[schemars(…)]`";
            return Err(Error::new_spanned(&attribute, message));
        }
    }
    Ok((kept, properties))
}
