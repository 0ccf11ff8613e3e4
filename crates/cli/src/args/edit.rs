//! The arguments of `edit`.

use clap::{ArgGroup, Args as Options};

use super::options::Args;
use crate::convert::{Conversion, Escapes};
use crate::url::edit::{self, Parameter};

/// Change parts of URLs, and keep every other byte
///
/// Options may be repeated. Their order has no meaning: parts change first. Then parameters are kept, dropped, set,
/// replaced, appended and sorted. Names of parameters are compared decoded, where `+` is a space. Only `&` separates parameters; those that stay keep
/// their bytes and their order.
///
/// A VALUE is text: bytes that its part cannot contain are escaped, and so are those that would end it. Valid escapes stay, so write %25
/// for a `%` before two hexadecimal digits. A URL whose new parts could not be read back, or only by some programs, is rejected: it
/// stays as it is, and is counted. An empty line stays, and is no URL.
#[derive(Debug, Options)]
#[command(
    override_usage = "pct edit [OPTIONS] [FILE]...",
    group = ArgGroup::new("changes").required(true).multiple(true),
    after_long_help = include_str!("examples/edit.txt").trim_ascii_end(),
    mut_arg("raw", |raw| raw.hide(true))
)]
pub struct Edit {
    /// Write VALUE as this part, such as scheme, host, path or query:NAME
    ///
    /// The parts are scheme, userinfo, user, password, host, port, path, query, query:NAME and fragment. A host is converted
    /// by IDNA, and only a URL that has a host can get another one, a port, a user or a password. `pct resolve --base` adds
    /// hosts. A URL such as `example.org/a` has no host, and is rejected if it gets the scheme https: write `//` before it.
    /// `query:NAME` replaces the first parameter of this name, and removes its others. A URL without the parameter gets it at the end.
    #[arg(long, value_name = "PART=VALUE", group = "changes")]
    pub set: Vec<String>,

    /// Remove these parts and their delimiters
    ///
    /// User, password and port go with the host.
    #[arg(long, value_name = "PART,...", value_delimiter = ',', group = "changes")]
    pub drop: Vec<String>,

    /// Remove all other parameters of the query; `*` is any text
    #[arg(long, value_name = "NAME", group = "changes", allow_hyphen_values = true)]
    pub keep_query: Vec<String>,

    /// Remove the parameters of this name; `*` is any text
    ///
    /// The `?` goes with the last parameter.
    #[arg(long, value_name = "NAME", group = "changes", allow_hyphen_values = true)]
    pub drop_query: Vec<String>,

    /// Replace the parameters of this name, if there are any
    ///
    /// The new one takes the place of the first, and the others go.
    #[arg(long, value_name = "K=V", group = "changes", allow_hyphen_values = true, value_parser = Parameter::new)]
    pub replace_query: Vec<Parameter>,

    /// Add this parameter at the end of the query
    ///
    /// This happens also if the query has the name already.
    #[arg(long, value_name = "K=V", group = "changes", allow_hyphen_values = true, value_parser = Parameter::new)]
    pub append_query: Vec<Parameter>,

    /// Sort the parameters by name
    ///
    /// The names are decoded, and parameters of one name keep their order.
    #[arg(long, group = "changes")]
    pub sort_query: bool,

    #[command(flatten)]
    pub args: Args,
}

impl Edit {
    /// Returns the conversion, or an error message.
    pub fn conversion(&self) -> Result<Conversion, String> {
        if let Some(name) = self.keep_query.iter().find(|name| self.drop_query.contains(name)) {
            return Err(format!("--keep-query and --drop-query both name '{name}'"));
        }
        let mut edit = edit::Edit {
            keep: self.keep_query.clone(),
            drop: self.drop_query.clone(),
            append: self.append_query.clone(),
            sorts: self.sort_query,
            ..edit::Edit::default()
        };
        self.drop
            .iter()
            .try_for_each(|part| edit.remove(part))
            .map_err(|message| format!("--drop: {message}"))?;
        self.set
            .iter()
            .try_for_each(|change| edit.set(change))
            .map_err(|message| format!("--set: {message}"))?;
        self.replace_query
            .iter()
            .try_for_each(|new| edit.replace(new.clone(), false))
            .map_err(|message| format!("--replace-query: {message}"))?;
        Ok(Conversion::of_urls(edit, Escapes::Copied))
    }
}
