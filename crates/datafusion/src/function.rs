//! The functions as DataFusion calls them: their types, documentation, and calls with constants and columns.

use std::hash::{Hash, Hasher};
use std::sync::{Arc, LazyLock};

use datafusion_common::arrow::array::{Array, ArrayRef, AsArray, UInt32Array, new_null_array};
use datafusion_common::arrow::compute;
use datafusion_common::arrow::datatypes::{DataType, Field, FieldRef};
use datafusion_common::{Result, ScalarValue, exec_err, plan_datafusion_err, plan_err};
use datafusion_expr::{
    ColumnarValue, DocSection, Documentation, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDFImpl, Signature,
    Volatility,
};
use simdpct_functions::{Body, Name, Output, SqlFunction, sql_functions};

use crate::apply::{self, Job};

/// A function of SQL as DataFusion registers it.
#[derive(Debug)]
pub(crate) struct Function {
    sql: &'static SqlFunction,
    signature: Signature,
}

impl PartialEq for Function {
    fn eq(&self, other: &Function) -> bool {
        self.name() == other.name()
    }
}

impl Eq for Function {}

impl Hash for Function {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name().hash(state);
    }
}

impl Function {
    pub(crate) fn new(sql: &'static SqlFunction) -> Function {
        Function { sql, signature: Signature::user_defined(Volatility::Immutable) }
    }

    /// Returns the name of the second argument, or `None` if the function has only one.
    fn second(&self) -> Option<&'static str> {
        self.sql.function.name.map(Name::argument)
    }

    /// Returns the type to which DataFusion coerces the first argument: its own type if that is text, or binary if the function
    /// takes binary.
    fn passed(&self, given: &DataType) -> Option<DataType> {
        let takes_binary = self.sql.function.takes_binary;
        match given {
            DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => Some(given.clone()),
            DataType::Null => Some(DataType::Utf8),
            DataType::Binary | DataType::LargeBinary | DataType::BinaryView if takes_binary => {
                Some(given.clone())
            }
            DataType::FixedSizeBinary(_) if takes_binary => Some(DataType::Binary),
            DataType::Dictionary(keys, values) => match self.sql.function.body {
                Body::Verb(_) => Some(DataType::Dictionary(keys.clone(), Box::new(self.passed(values)?))),
                Body::Part(_) | Body::Url(_) => self.passed(values),
            },
            _ => None,
        }
    }

    /// Returns the type of the result for a first argument of type `passed`.
    fn result(&self, passed: &DataType) -> DataType {
        match self.sql.function.body {
            Body::Verb(_) => apply::with_layout(self.is_text(), passed),
            Body::Part(_) | Body::Url(_) => apply::nested(self.sql.function.output, passed),
        }
    }

    fn is_text(&self) -> bool {
        self.sql.function.output == Output::Text
    }

    fn job(&self, name: Option<&str>) -> Result<Job> {
        let Body::Verb(make) = self.sql.function.body else {
            return exec_err!("{} has no verb", self.name());
        };
        let verb = self.sql.verb(make, name).map_err(|message| plan_datafusion_err!("{message}"))?;
        Ok(Job { verb, text: self.is_text() })
    }
}

impl ScalarUDFImpl for Function {
    fn name(&self) -> &str {
        self.sql.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, given: &[DataType]) -> Result<Vec<DataType>> {
        let syntax = self.sql.syntax();
        let least = 1 + self.sql.function.more.len();
        let most = least + usize::from(self.second().is_some());
        if given.len() < least || given.len() > most {
            return plan_err!("{syntax} does not take {} arguments", given.len());
        }
        let Some(passed) = self.passed(&given[0]) else {
            let types = if self.sql.function.takes_binary { "text or binary" } else { "text" };
            return plan_err!("{syntax}: {} must be {types}, not {}", self.sql.function.value, given[0]);
        };
        let mut types = vec![passed];
        for (given, second) in
            given[1..].iter().zip(self.sql.function.more.iter().copied().chain(self.second()))
        {
            let is_text = match given {
                DataType::Dictionary(_, values) => values.is_string() || values.is_null(),
                given => given.is_string() || given.is_null(),
            };
            if !is_text {
                return plan_err!("{syntax}: {second} must be text, not {given}");
            }
            types.push(DataType::Utf8);
        }
        Ok(types)
    }

    fn return_type(&self, passed: &[DataType]) -> Result<DataType> {
        match passed.first() {
            Some(first) => Ok(self.result(first)),
            None => plan_err!("{} does not take 0 arguments", self.sql.syntax()),
        }
    }

    fn return_field_from_args(&self, args: ReturnFieldArgs<'_>) -> Result<FieldRef> {
        let types: Vec<_> = args.arg_fields.iter().map(|field| field.data_type().clone()).collect();
        // An unknown name that is a constant is reported here, before the query runs.
        if self.second().is_some()
            && let Some(Some(name)) = args.scalar_arguments.get(1)
            && let Some(Some(name)) = name.try_as_str()
        {
            self.job(Some(name))?;
        }
        let nullable = self.sql.makes_nulls() || args.arg_fields.iter().any(|field| field.is_nullable());
        Ok(Arc::new(Field::new(self.name(), self.return_type(&types)?, nullable)))
    }

    fn is_strict(&self) -> bool {
        true
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let rows = args.number_rows;
        if !matches!(self.sql.function.body, Body::Verb(_)) {
            let arrays = ColumnarValue::values_to_arrays(&args.args)?;
            let made = match self.sql.function.body {
                Body::Part(part) => apply::parts(part, &arrays[0])?,
                Body::Url(body) => apply::extract(self.sql, body, &arrays)?,
                Body::Verb(_) => return exec_err!("{} is not a function of URLs", self.name()),
            };
            let is_constant = args.args.iter().all(|argument| matches!(argument, ColumnarValue::Scalar(_)));
            return Ok(match is_constant {
                true => ColumnarValue::Scalar(ScalarValue::try_from_array(&made, 0)?),
                false => ColumnarValue::Array(made),
            });
        }
        match &args.args[..] {
            [value] => with_job(value, self.job(None)?),
            [value, ColumnarValue::Scalar(name)] => match name.try_as_str() {
                Some(Some(name)) => with_job(value, self.job(Some(name))?),
                _ => Ok(ColumnarValue::Scalar(ScalarValue::try_new_null(&self.result(&value.data_type()))?)),
            },
            [value, ColumnarValue::Array(names)] => {
                self.with_names(&value.to_array(rows)?, names).map(ColumnarValue::Array)
            }
            _ => exec_err!("{} does not take {} arguments", self.sql.syntax(), args.args.len()),
        }
    }

    fn documentation(&self) -> Option<&Documentation> {
        static ALL: LazyLock<Vec<Documentation>> =
            LazyLock::new(|| sql_functions().iter().map(document).collect());
        let index = sql_functions().iter().position(|sql| sql.name == self.name())?;
        ALL.get(index)
    }
}

fn document(sql: &SqlFunction) -> Documentation {
    let section = DocSection { include: false, label: "URL Functions", description: None };
    const ABOUT: &str = "A column, a constant or another expression.";
    let mut documentation = Documentation::builder(section, sql.about(), sql.syntax());
    for argument in [sql.function.value].iter().chain(sql.function.more) {
        documentation = documentation.with_argument(*argument, ABOUT);
    }
    match sql.function.name.map(Name::argument) {
        Some(second) => documentation.with_argument(second, format!("The name of a {second}.")).build(),
        None => documentation.build(),
    }
}

/// Applies one job to all rows, because all have the same name or none.
fn with_job(value: &ColumnarValue, job: Job) -> Result<ColumnarValue> {
    Ok(match value {
        ColumnarValue::Array(values) => ColumnarValue::Array(apply::apply(values, job)?),
        ColumnarValue::Scalar(value) => {
            let made = apply::apply(&value.to_array()?, job)?;
            ColumnarValue::Scalar(ScalarValue::try_from_array(&made, 0)?)
        }
    })
}

impl Function {
    /// Applies the function with a name for each row. Rows are grouped by name, because there are few different names.
    fn with_names(&self, values: &ArrayRef, names: &ArrayRef) -> Result<ArrayRef> {
        let result = self.result(values.data_type());
        // A dictionary is unpacked, because rows that share one of its values may have different names.
        let values = match values.data_type() {
            DataType::Dictionary(_, flat) => compute::cast(values, flat)?,
            _ => Arc::clone(values),
        };
        let Some(names) = names.as_string_opt::<i32>() else {
            return exec_err!("{}: the names are of type {}", self.sql.syntax(), names.data_type());
        };
        // The groups of rows with the same name. The first group has the rows whose name is null.
        let mut groups: Vec<(Option<&str>, Vec<u32>)> = vec![(None, Vec::new())];
        // For each row, its group and its index in the results of that group.
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
        let flat = self.result(values.data_type());
        let mut made = vec![new_null_array(&flat, 1)];
        for (name, rows) in &groups[1..] {
            let job = self.job(*name)?;
            let some = if rows.len() == values.len() {
                Arc::clone(&values)
            } else {
                compute::take(&values, &UInt32Array::from(rows.clone()), None)?
            };
            made.push(apply::apply(&some, job)?);
        }
        let made: Vec<&dyn Array> = made.iter().map(|some| &**some).collect();
        let flat = compute::interleave(&made, &places)?;
        Ok(if result == *flat.data_type() { flat } else { compute::cast(&flat, &result)? })
    }
}
