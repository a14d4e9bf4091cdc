use proc_macro2::{Group, Span, TokenStream, TokenTree};
use quote::quote;
use syn::parse::{Parse, ParseStream};
use syn::{Attribute, Error, FnArg, Ident, ImplItem, ImplItemFn, ItemImpl, Path, Result, Token};

use crate::expand::{Parts, Receiver, dictated, handler};
use crate::parameters::take_parameters;
use crate::properties::Properties;

/// What stands in `#[tools(…)]`.
pub(crate) struct SetProperties {
    root: Option<Path>,
}

impl Parse for SetProperties {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        if input.is_empty() {
            return Ok(Self { root: None });
        }
        let message =
            "`#[tools]` takes only `crate = path`; properties stand on each method, in `#[tool(…)]`";
        input.parse::<Token![crate]>().map_err(|error| Error::new(error.span(), message))?;
        input.parse::<Token![=]>()?;
        Ok(Self { root: Some(input.parse()?) })
    }
}

/// The block as it is, and the tools that its methods are.
pub(crate) fn expand(set: &SetProperties, mut block: ItemImpl) -> Result<TokenStream> {
    if let Some((_, path, _)) = &block.trait_ {
        let message = "`#[tools]` stands on a type's own `impl` block, not on that of a trait";
        return Err(Error::new_spanned(path, message));
    }
    if !block.generics.params.is_empty() {
        let message = "tools have one schema each, so the type that has them cannot be generic";
        return Err(Error::new_spanned(&block.generics.params, message));
    }
    let root = match &set.root {
        Some(path) => quote!(#path::__private),
        None => quote!(::windlass::__private),
    };
    let state = (*block.self_ty).clone();
    let mut tools = Vec::new();
    for item in &mut block.items {
        if let ImplItem::Fn(method) = item
            && let Some(properties) = take_properties(set, &mut method.attrs)?
        {
            tools.push(tool(&properties, &state, method)?);
        }
    }
    if tools.is_empty() {
        let message = "no method here is a tool yet; put `#[tool(pure)]`, `#[tool(idempotent)]` or `#[tool(once)]` on one";
        return Err(Error::new(Span::call_site(), message));
    }
    Ok(quote! {
        #block

        const _: () = {
            use #root as __windlass;
            #[automatically_derived]
            impl __windlass::Tools for #state {
                fn tools(
                    state: ::std::sync::Arc<Self>,
                ) -> ::core::result::Result<::std::vec::Vec<__windlass::Tool>, __windlass::Error> {
                    let mut tools = ::std::vec::Vec::new();
                    #(#tools)*
                    ::core::result::Result::Ok(tools)
                }
            }
        };
    })
}

/// The properties in a method's `#[tool(…)]`, which is taken away.
fn take_properties(set: &SetProperties, attributes: &mut Vec<Attribute>) -> Result<Option<Properties>> {
    let is_tool =
        |attribute: &Attribute| attribute.path().segments.last().is_some_and(|last| last.ident == "tool");
    let Some(index) = attributes.iter().position(is_tool) else { return Ok(None) };
    let attribute = attributes.remove(index);
    let mut properties: Properties = match &attribute.meta {
        syn::Meta::Path(_) => syn::parse2(TokenStream::new())
            .map_err(|error| Error::new_spanned(&attribute, error.to_string()))?,
        _ => attribute.parse_args()?,
    };
    properties.root = properties.root.or_else(|| set.root.clone());
    Ok(Some(properties))
}

/// The code with `Self` written out: where it will stand, it would mean a type that nobody wrote.
fn named(code: TokenStream, state: &TokenStream) -> TokenStream {
    let mut tokens = code.into_iter().peekable();
    let mut written = TokenStream::new();
    while let Some(token) = tokens.next() {
        match token {
            TokenTree::Ident(word) if word == "Self" => {
                let is_path = matches!(tokens.peek(), Some(TokenTree::Punct(next)) if next.as_char() == ':');
                written.extend(if is_path { quote!(<#state>) } else { state.clone() });
            }
            TokenTree::Group(group) => {
                let mut inner = Group::new(group.delimiter(), named(group.stream(), state));
                inner.set_span(group.span());
                written.extend([TokenTree::from(inner)]);
            }
            token => written.extend([token]),
        }
    }
    written
}

/// A statement that adds the tool that a method is.
fn tool(properties: &Properties, state: &syn::Type, method: &mut ImplItemFn) -> Result<TokenStream> {
    let name: Ident = method.sig.ident.clone();
    match method.sig.inputs.first() {
        Some(FnArg::Receiver(receiver)) if receiver.reference.is_some() && receiver.mutability.is_none() => {}
        Some(FnArg::Receiver(receiver)) => {
            let message = "calls run at the same time and share the state; take `&self`, and put what changes into a `Mutex`";
            return Err(Error::new_spanned(receiver, message));
        }
        _ => {
            let message = "a tool of this block takes `&self`; a function without state is a tool of its own, outside the block";
            return Err(Error::new(name.span(), message));
        }
    }
    let parameters = take_parameters(&mut method.sig)?;
    method.attrs.push(dictated());
    if let Some((name, _)) = parameters.states().next() {
        let message = "the state of this tool is `&self`; an argument is owned: take it without `&`";
        return Err(Error::new(name.span(), message));
    }
    let parts = Parts {
        properties,
        name: &name,
        attributes: &method.attrs,
        signature: &method.sig,
        parameters: &parameters,
        call: quote!(<#state>::#name),
        receiver: Receiver::Itself,
    };
    let handler = named(handler(&parts)?, &quote!(#state));
    let made = parts.wrapped(quote!(__WindlassTool(state.clone())));
    let conditions = method.attrs.iter().filter(|attribute| attribute.path().is_ident("cfg"));
    Ok(quote! {
        #(#conditions)*
        {
            struct __WindlassTool(::std::sync::Arc<#state>);
            #handler
            tools.push(__windlass::IntoTool::into_tool(#made)?);
        }
    })
}
