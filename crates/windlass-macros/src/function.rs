use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::{Attribute, Error, FnArg, Ident, ItemFn, Result, Type};

use crate::expand::{Parts, Receiver, dictated, handler};
use crate::parameters::take_parameters;
use crate::properties::Properties;

/// A function that gives a tool, in the place of the function that is its handler.
pub(crate) fn expand(properties: &Properties, mut function: ItemFn) -> Result<TokenStream> {
    if let Some(FnArg::Receiver(receiver)) = function.sig.inputs.first() {
        let message = "a method is a tool inside `#[tools] impl …`; put `#[tools]` on the `impl` block";
        return Err(Error::new_spanned(receiver, message));
    }
    let name = function.sig.ident.clone();
    let parameters = take_parameters(&mut function.sig)?;
    let (outer, inner) = split_attributes(std::mem::take(&mut function.attrs));
    let visibility = std::mem::replace(&mut function.vis, syn::Visibility::Inherited);
    let inner_name = format_ident!("__windlass_handler");
    function.sig.ident = inner_name.clone();
    function.attrs = inner;
    function.attrs.push(dictated());

    let states: Vec<(&Ident, &Type)> = parameters.states().collect();
    let takes =
        states.iter().map(|(name, ty)| quote!(#name: impl ::core::convert::Into<::std::sync::Arc<#ty>>));
    let given = states.iter().map(|(name, _)| quote!(#name: ::core::convert::Into::into(#name)));
    let parts = Parts {
        properties,
        name: &name,
        attributes: &outer,
        signature: &function.sig,
        parameters: &parameters,
        call: quote!(#inner_name),
        receiver: Receiver::Fields,
    };
    let handler = handler(&parts)?;
    let made = parts.wrapped(quote!(__WindlassTool { #(#given),* }));
    let output = parts.output_type()?;
    let root = parts.root();
    let bound = if properties.is_artifact_tool {
        quote!(#root::TypedTool<Output = ::std::string::String>)
    } else {
        quote!(#root::TypedTool<Output = #output>)
    };
    Ok(quote! {
        #(#outer)*
        #visibility fn #name(#(#takes),*) -> impl #bound {
            #function
            #handler
            #made
        }
    })
}

/// What belongs to the function that gives the tool, and what belongs to its handler.
fn split_attributes(attributes: Vec<Attribute>) -> (Vec<Attribute>, Vec<Attribute>) {
    attributes.into_iter().partition(|attribute| {
        ["doc", "cfg", "cfg_attr", "deprecated"].iter().any(|name| attribute.path().is_ident(name))
    })
}
