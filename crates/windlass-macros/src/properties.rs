use proc_macro2::{Span, TokenStream};
use quote::quote;
use syn::ext::IdentExt as _;
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{Error, Expr, ExprLit, Ident, Lit, LitBool, LitStr, Path, Result, Token, parenthesized};

use crate::words::{EFFECTS, PROPERTIES, WHICH_EFFECT, nearest};

/// What stands in `#[tool(…)]`.
#[derive(Default)]
pub(crate) struct Properties {
    effect: Option<Ident>,
    pub(crate) name: Option<LitStr>,
    pub(crate) description: Option<LitStr>,
    /// Calls of the builder methods of a definition.
    pub(crate) methods: Vec<TokenStream>,
    pub(crate) check: Option<Path>,
    pub(crate) reconcile: Option<Path>,
    pub(crate) is_artifact_tool: bool,
    pub(crate) root: Option<Path>,
    seen: Vec<String>,
}

impl Properties {
    /// The effect, as a variant.
    pub(crate) fn effect(&self) -> Result<Ident> {
        let effect = self.effect.as_ref().ok_or_else(|| Error::new(Span::call_site(), WHICH_EFFECT))?;
        let variant = match effect.to_string().as_str() {
            "pure" => "Pure",
            "idempotent" => "Idempotent",
            _ => "Once",
        };
        Ok(Ident::new(variant, effect.span()))
    }

    fn read(&mut self, input: ParseStream<'_>) -> Result<()> {
        let word = input.call(parse_word)?;
        let text = word.to_string();
        if EFFECTS.contains(&text.as_str()) {
            if let Some(first) = self.effect.replace(word.clone()) {
                let message = format!("a tool has one effect, and `{first}` is there already");
                return Err(Error::new(word.span(), message));
            }
            return Ok(());
        }
        if self.seen.contains(&text) {
            return Err(Error::new(word.span(), format!("`{text}` is there twice; leave one out")));
        }
        self.seen.push(text.clone());
        let method = &word;
        match text.as_str() {
            "name" => self.name = Some(value(input, &word)?),
            "description" => self.description = Some(value(input, &word)?),
            "timeout" => {
                let timeout = duration(&value(input, &word)?)?;
                self.methods.push(quote!(timeout(#timeout)));
            }
            "trusted" | "egress" | "sensitive" | "exclusive" | "blocking" | "polling" | "ephemeral" => {
                flag(input, &word)?;
                self.methods.push(quote!(#method()));
            }
            "artifact_tool" => {
                flag(input, &word)?;
                self.is_artifact_tool = true;
            }
            "inline" => {
                let inline: LitBool = value(input, &word)?;
                self.methods.push(quote!(inline(#inline)));
            }
            "artifact_type" => {
                let artifact_type: Expr = value(input, &word)?;
                self.methods.push(quote!(artifact_type(#artifact_type)));
            }
            "approval" => {
                let approval = approval(&value(input, &word)?);
                self.methods.push(quote!(approval(#approval)));
            }
            "on_collision" => {
                let policy = policy(&value(input, &word)?)?;
                self.methods.push(quote!(on_collision(__windlass::OnCollision::#policy)));
            }
            "meta" => self.read_meta(input)?,
            "check" => self.check = Some(value(input, &word)?),
            "reconcile" => self.reconcile = Some(value(input, &word)?),
            "crate" => self.root = Some(value(input, &word)?),
            "effect" => {
                let message = format!("write the effect as a word alone.\n{WHICH_EFFECT}");
                return Err(Error::new(word.span(), message));
            }
            _ => return Err(unknown(&word)),
        }
        Ok(())
    }

    fn read_meta(&mut self, input: ParseStream<'_>) -> Result<()> {
        if !input.peek(syn::token::Paren) {
            return Err(input.error("write `meta(key = value, …)`"));
        }
        let inner;
        parenthesized!(inner in input);
        while !inner.is_empty() {
            let key: Ident = inner.parse()?;
            let text = key.unraw().to_string();
            let value: Expr = value(&inner, &key)?;
            self.methods.push(quote!(meta(#text, #value)));
            if !inner.is_empty() {
                inner.parse::<Token![,]>()?;
            }
        }
        Ok(())
    }
}

impl Parse for Properties {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let mut properties = Self::default();
        while !input.is_empty() {
            properties.read(input)?;
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        properties.effect()?;
        Ok(properties)
    }
}

/// A name, `crate` among them.
fn parse_word(input: ParseStream<'_>) -> Result<Ident> {
    if input.peek(Token![crate]) {
        let word: Token![crate] = input.parse()?;
        return Ok(Ident::new("crate", word.span));
    }
    input.parse().map_err(|error| {
        Error::new(error.span(), format!("expected a property such as `timeout = \"30s\"`; {error}"))
    })
}

fn value<T: Parse>(input: ParseStream<'_>, word: &Ident) -> Result<T> {
    if !input.peek(Token![=]) {
        return Err(Error::new(word.span(), format!("`{word}` needs a value: `{word} = …`")));
    }
    input.parse::<Token![=]>()?;
    input.parse()
}

fn flag(input: ParseStream<'_>, word: &Ident) -> Result<()> {
    if input.peek(Token![=]) || input.peek(syn::token::Paren) {
        return Err(Error::new(
            word.span(),
            format!("`{word}` has no value: leave it out or write it alone"),
        ));
    }
    Ok(())
}

fn unknown(word: &Ident) -> Error {
    let text = word.to_string();
    let all: Vec<_> = EFFECTS.into_iter().chain(PROPERTIES).collect();
    let meant = nearest(&text, &all).map(|meant| format!("; did you mean `{meant}`?")).unwrap_or_default();
    let listed: Vec<_> =
        PROPERTIES.iter().filter(|name| **name != "effect").map(|name| format!("`{name}`")).collect();
    let message = format!("a tool has no property `{text}`{meant}\nthe properties are {}", listed.join(", "));
    Error::new(word.span(), message)
}

/// A duration: any expression of that type, or a text such as "30s".
fn duration(value: &Expr) -> Result<TokenStream> {
    let Expr::Lit(ExprLit { lit, .. }) = value else { return Ok(quote!(#value)) };
    let wrong = || {
        let message = "write a duration as \"500ms\", \"30s\", \"5m\" or \"1h\", or as an expression of type `Duration`";
        Error::new(lit.span(), message)
    };
    let Lit::Str(text) = lit else { return Err(wrong()) };
    let text = text.value();
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (amount, unit) = text.split_at(digits);
    let amount: u64 = amount.parse().map_err(|_| wrong())?;
    let factor = match unit.trim() {
        "ms" => 1,
        "s" => 1_000,
        "m" | "min" => 60_000,
        "h" => 3_600_000,
        _ => return Err(wrong()),
    };
    let millis = amount.checked_mul(factor).filter(|millis| *millis > 0).ok_or_else(wrong)?;
    Ok(quote!(::core::time::Duration::from_millis(#millis)))
}

/// `always`, `never`, or a condition.
fn approval(value: &Expr) -> TokenStream {
    let word = match value {
        Expr::Path(path) => path.path.segments.last().map(|last| last.ident.to_string().to_lowercase()),
        _ => None,
    };
    match word.as_deref() {
        Some("always") => quote!(__windlass::Approval::Always),
        Some("never") => quote!(__windlass::Approval::Never),
        _ => quote!(__windlass::Approval::when(#value)),
    }
}

fn policy(word: &Ident) -> Result<Ident> {
    let variant = match word.to_string().as_str() {
        "throw" => "Throw",
        "replace" => "Replace",
        "keep" => "Keep",
        _ => return Err(Error::new(word.span(), "write `throw`, `replace` or `keep`")),
    };
    Ok(Ident::new(variant, word.span()))
}

/// What stands in `#[arg(…)]`.
#[derive(Default)]
pub(crate) struct ArgumentProperties {
    pub(crate) default: Option<Expr>,
    pub(crate) is_destination: bool,
    pub(crate) is_secret: bool,
}

impl ArgumentProperties {
    pub(crate) fn read(&mut self, attribute: &syn::Attribute) -> Result<()> {
        const KNOWN: [&str; 3] = ["default", "destination", "secret"];
        let words = attribute
            .parse_args_with(Punctuated::<ArgumentProperty, Token![,]>::parse_terminated)
            .map_err(|error| {
                Error::new(
                    error.span(),
                    format!(
                        "write `#[arg(default = …)]`, `#[arg(destination)]` or `#[arg(secret)]`; {error}"
                    ),
                )
            })?;
        for ArgumentProperty { word, value } in words {
            match (word.to_string().as_str(), value) {
                ("default", Some(value)) => self.default = Some(value),
                ("default", None) => {
                    return Err(Error::new(
                        word.span(),
                        "write `default = …`; an argument that may be missing is an `Option`",
                    ));
                }
                ("destination", None) => self.is_destination = true,
                ("secret", None) => self.is_secret = true,
                ("destination" | "secret", Some(_)) => {
                    return Err(Error::new(word.span(), format!("`{word}` has no value: write it alone")));
                }
                (text, _) => {
                    let meant = nearest(text, &KNOWN).map(|meant| format!("; did you mean `{meant}`?"));
                    let message = format!(
                        "an argument has no property `{text}`{}\nthe properties are `default`, `destination`, `secret`; names, ranges and lengths are set with `#[serde(…)]` and `#[schemars(…)]`",
                        meant.unwrap_or_default()
                    );
                    return Err(Error::new(word.span(), message));
                }
            }
        }
        Ok(())
    }
}

struct ArgumentProperty {
    word: Ident,
    value: Option<Expr>,
}

impl Parse for ArgumentProperty {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let word = input.parse()?;
        let value = if input.peek(Token![=]) {
            input.parse::<Token![=]>()?;
            Some(input.parse()?)
        } else {
            None
        };
        Ok(Self { word, value })
    }
}
