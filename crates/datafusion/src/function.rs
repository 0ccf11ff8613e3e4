//! The functions as DataFusion sees them: names, types, documentation, and their call with constants and columns.

use std::sync::{Arc, LazyLock};

use datafusion_common::arrow::array::{Array, ArrayRef, AsArray, UInt32Array, new_null_array};
use datafusion_common::arrow::compute;
use datafusion_common::arrow::datatypes::{DataType, Field, FieldRef};
use datafusion_common::{Result, ScalarValue, exec_err, plan_err};
use datafusion_expr::{
    ColumnarValue, DocSection, Documentation, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDFImpl, Signature,
    Volatility,
};
use simdpct::Encode;

use crate::apply;
use crate::verb::{Code, OnWrong, Verb, layout, profile, set};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    PctEncode,
    PctDecode,
    TryPctDecode,
    PctDecodeBlob,
    PctNormalize,
    UrlCanonical,
    TryUrlCanonical,
}

impl Kind {
    pub(crate) const ALL: [Kind; 7] = [
        Kind::PctEncode,
        Kind::PctDecode,
        Kind::TryPctDecode,
        Kind::PctDecodeBlob,
        Kind::PctNormalize,
        Kind::UrlCanonical,
        Kind::TryUrlCanonical,
    ];

    const fn name(self) -> &'static str {
        match self {
            Kind::PctEncode => "pct_encode",
            Kind::PctDecode => "pct_decode",
            Kind::TryPctDecode => "try_pct_decode",
            Kind::PctDecodeBlob => "pct_decode_blob",
            Kind::PctNormalize => "pct_normalize",
            Kind::UrlCanonical => "url_canonical",
            Kind::TryUrlCanonical => "try_url_canonical",
        }
    }

    /// What a second argument names, if there may be one.
    const fn second(self) -> Option<&'static str> {
        match self {
            Kind::PctEncode => Some("set"),
            Kind::UrlCanonical | Kind::TryUrlCanonical => Some("profile"),
            _ => None,
        }
    }

    const fn first(self) -> &'static str {
        match self {
            Kind::PctEncode => "value",
            Kind::UrlCanonical | Kind::TryUrlCanonical => "url",
            _ => "text",
        }
    }

    const fn description(self) -> &'static str {
        match self {
            Kind::PctEncode => {
                "Percent-encodes text (its UTF-8) or binary: all bytes become escapes but those of the set, \
                 which are letters, digits and '- . _ ~' if none is named."
            }
            Kind::PctDecode => {
                "Decodes percent-encoded text. A malformed escape stays as it is, and so does an escape \
                 whose byte would not be part of UTF-8."
            }
            Kind::TryPctDecode => {
                "Decodes percent-encoded text, and gives NULL where an escape is malformed or the result is not UTF-8."
            }
            Kind::PctDecodeBlob => "Decodes percent-encoded text to the exact bytes, as binary.",
            Kind::PctNormalize => {
                "Decodes escapes of unreserved bytes, and puts the others in upper case (RFC 3986, 6.2.2)."
            }
            Kind::UrlCanonical => {
                "The canonical form of a URL by a profile, 'rfc3986-scheme' if none is named. A URL that the \
                 profile refuses stays as it is."
            }
            Kind::TryUrlCanonical => {
                "The canonical form of a URL by a profile, 'rfc3986-scheme' if none is named, and NULL where \
                 the profile refuses the URL."
            }
        }
    }

    fn verb(self, name: Option<&str>) -> Result<Verb> {
        Ok(match self {
            Kind::PctEncode => Verb::Code(Code::Encode(Encode::keeping(set(name)?))),
            Kind::PctDecode => Verb::Code(Code::Decode(OnWrong::Keep)),
            Kind::TryPctDecode => Verb::Code(Code::Decode(OnWrong::Null)),
            Kind::PctDecodeBlob => Verb::Code(Code::DecodeBytes),
            Kind::PctNormalize => Verb::Code(Code::Normalize),
            Kind::UrlCanonical => Verb::Canonicalize(profile(self.name(), name)?, OnWrong::Keep),
            Kind::TryUrlCanonical => Verb::Canonicalize(profile(self.name(), name)?, OnWrong::Null),
        })
    }

    /// Whether the result may be null where no argument is.
    const fn refuses(self) -> bool {
        matches!(self, Kind::TryPctDecode | Kind::TryUrlCanonical)
    }

    /// The type of the first argument as it is taken: as it is, if it is text, or binary where that is encoded.
    fn takes(self, given: &DataType) -> Option<DataType> {
        match given {
            DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => Some(given.clone()),
            DataType::Null => Some(DataType::Utf8),
            DataType::Binary | DataType::LargeBinary | DataType::BinaryView if self == Kind::PctEncode => {
                Some(given.clone())
            }
            DataType::FixedSizeBinary(_) if self == Kind::PctEncode => Some(DataType::Binary),
            DataType::Dictionary(keys, values) => {
                Some(DataType::Dictionary(keys.clone(), Box::new(self.takes(values)?)))
            }
            _ => None,
        }
    }

    fn gives(self, taken: &DataType) -> DataType {
        layout(self != Kind::PctDecodeBlob, taken)
    }
}

/// A function of SQL.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct Function {
    kind: Kind,
    signature: Signature,
}

impl Function {
    pub(crate) fn new(kind: Kind) -> Function {
        Function { kind, signature: Signature::user_defined(Volatility::Immutable) }
    }

    fn call(&self) -> String {
        let (name, first) = (self.kind.name(), self.kind.first());
        self.kind
            .second()
            .map_or_else(|| format!("{name}({first})"), |second| format!("{name}({first} [, {second}])"))
    }
}

impl ScalarUDFImpl for Function {
    fn name(&self) -> &str {
        self.kind.name()
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, given: &[DataType]) -> Result<Vec<DataType>> {
        let most = 1 + usize::from(self.kind.second().is_some());
        if given.is_empty() || given.len() > most {
            return plan_err!("{} has not {} arguments", self.call(), given.len());
        }
        let Some(taken) = self.kind.takes(&given[0]) else {
            let takes = if self.kind == Kind::PctEncode { "text or binary" } else { "text" };
            return plan_err!("{}: {} is {takes}, and not {}", self.call(), self.kind.first(), given[0]);
        };
        let mut types = vec![taken];
        if let (Some(given), Some(second)) = (given.get(1), self.kind.second()) {
            let is_text = match given {
                DataType::Dictionary(_, values) => values.is_string() || values.is_null(),
                given => given.is_string() || given.is_null(),
            };
            if !is_text {
                return plan_err!("{}: {second} is text, and not {given}", self.call());
            }
            types.push(DataType::Utf8);
        }
        Ok(types)
    }

    fn return_type(&self, taken: &[DataType]) -> Result<DataType> {
        match taken.first() {
            Some(first) => Ok(self.kind.gives(first)),
            None => plan_err!("{} has not 0 arguments", self.call()),
        }
    }

    fn return_field_from_args(&self, args: ReturnFieldArgs<'_>) -> Result<FieldRef> {
        let types: Vec<_> = args.arg_fields.iter().map(|field| field.data_type().clone()).collect();
        // A wrong name is told before a query runs.
        if let Some(Some(name)) = args.scalar_arguments.get(1)
            && let Some(Some(name)) = name.try_as_str()
        {
            self.kind.verb(Some(name))?;
        }
        let nullable = self.kind.refuses() || args.arg_fields.iter().any(|field| field.is_nullable());
        Ok(Arc::new(Field::new(self.name(), self.return_type(&types)?, nullable)))
    }

    fn is_strict(&self) -> bool {
        true
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let rows = args.number_rows;
        match &args.args[..] {
            [value] => with_verb(value, &self.kind.verb(None)?),
            [value, ColumnarValue::Scalar(name)] => match name.try_as_str() {
                Some(Some(name)) => with_verb(value, &self.kind.verb(Some(name))?),
                _ => Ok(ColumnarValue::Scalar(ScalarValue::try_new_null(
                    &self.kind.gives(&value.data_type()),
                )?)),
            },
            [value, ColumnarValue::Array(names)] => {
                self.with_names(&value.to_array(rows)?, names).map(ColumnarValue::Array)
            }
            _ => exec_err!("{} has not {} arguments", self.call(), args.args.len()),
        }
    }

    fn documentation(&self) -> Option<&Documentation> {
        static ALL: LazyLock<Vec<Documentation>> = LazyLock::new(|| {
            let document = |kind: Kind| {
                let syntax = Function::new(kind).call();
                let section = DocSection { include: false, label: "URL Functions", description: None };
                let documentation = Documentation::builder(section, kind.description(), syntax)
                    .with_argument(kind.first(), "A column, a constant or another expression.");
                match kind.second() {
                    Some(second) => {
                        documentation.with_argument(second, format!("The name of a {second}.")).build()
                    }
                    None => documentation.build(),
                }
            };
            Kind::ALL.into_iter().map(document).collect()
        });
        Kind::ALL.iter().position(|kind| *kind == self.kind).and_then(|index| ALL.get(index))
    }
}

/// One verb for all rows.
fn with_verb(value: &ColumnarValue, verb: &Verb) -> Result<ColumnarValue> {
    Ok(match value {
        ColumnarValue::Array(values) => ColumnarValue::Array(apply::apply(values, verb)?),
        ColumnarValue::Scalar(value) => {
            let made = apply::apply(&value.to_array()?, verb)?;
            ColumnarValue::Scalar(ScalarValue::try_from_array(&made, 0)?)
        }
    })
}

impl Function {
    /// A name for each row. Names are few, so the rows of each go through its verb together.
    fn with_names(&self, values: &ArrayRef, names: &ArrayRef) -> Result<ArrayRef> {
        let gives = self.kind.gives(values.data_type());
        // The rows of a dictionary's value may have different names.
        let values = match values.data_type() {
            DataType::Dictionary(_, flat) => compute::cast(values, flat)?,
            _ => Arc::clone(values),
        };
        let Some(names) = names.as_string_opt::<i32>() else {
            return exec_err!("{}: names came as {}", self.call(), names.data_type());
        };
        // The first group is of the rows whose name is null.
        let mut groups: Vec<(Option<&str>, Vec<u32>)> = vec![(None, Vec::new())];
        let mut places = Vec::with_capacity(names.len());
        let mut group = 0;
        for (row, name) in (0_u32..).zip(names) {
            if groups[group].0 != name {
                group = groups.iter().position(|(known, _)| *known == name).unwrap_or_else(|| {
                    groups.push((name, Vec::new()));
                    groups.len() - 1
                });
            }
            places.push((group, if group == 0 { 0 } else { groups[group].1.len() }));
            groups[group].1.push(row);
        }
        let flat = self.kind.gives(values.data_type());
        let mut made = vec![new_null_array(&flat, 1)];
        for (name, rows) in &groups[1..] {
            let verb = self.kind.verb(*name)?;
            let some = if rows.len() == values.len() {
                Arc::clone(&values)
            } else {
                compute::take(&values, &UInt32Array::from(rows.clone()), None)?
            };
            made.push(apply::apply(&some, &verb)?);
        }
        let made: Vec<&dyn Array> = made.iter().map(|some| &**some).collect();
        let flat = compute::interleave(&made, &places)?;
        Ok(if gives == *flat.data_type() { flat } else { compute::cast(&flat, &gives)? })
    }
}
