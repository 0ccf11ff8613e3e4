//! The functions as DataFusion calls them: types, documentation and calls. A profile is the rules of a canonical form.

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
use simdpct_functions::columns::Job;
use simdpct_functions::{Body, Name, Output, SqlFunction, sql_functions};

use crate::apply::{HOST, apply};

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

    /// Returns the name of the argument that chooses a set or a profile, or `None` if the function has no such argument.
    fn second(&self) -> Option<&'static str> {
        self.sql.function.name.map(Name::argument)
    }

    /// Returns the type to which DataFusion converts a first argument of type `given`, usually `given` itself. Returns
    /// `None` if the function does not take values of this type.
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
    fn result(&self, passed: &DataType) -> Result<DataType> {
        if let DataType::Dictionary(keys, values) = passed {
            return Ok(DataType::Dictionary(keys.clone(), Box::new(self.result(values)?)));
        }
        let Some(result) = self.job(None)?.result_type(passed) else {
            return plan_err!("{}: {} is neither text nor binary", self.sql.syntax(), passed);
        };
        // In SQL, the encoded form of binary is text.
        Ok(match result {
            DataType::Binary if self.is_text() => DataType::Utf8,
            DataType::LargeBinary if self.is_text() => DataType::LargeUtf8,
            DataType::BinaryView if self.is_text() => DataType::Utf8View,
            result => result,
        })
    }

    fn is_text(&self) -> bool {
        self.sql.function.output == Output::Text
    }

    /// Returns the job (the function and its options) of a call with the name of a set of bytes or of a profile, or of a
    /// call without a name.
    fn job(&self, name: Option<&str>) -> Result<Job> {
        let options = self.sql.options(name).map_err(|message| plan_datafusion_err!("{message}"))?;
        Ok(Job { function: self.sql.function, options, host: &HOST })
    }

    /// Applies a job to the arguments. All rows have the same name of a set or profile, or none.
    fn with_job(&self, job: &Job, arguments: &[ColumnarValue]) -> Result<ColumnarValue> {
        let array = |argument: &ColumnarValue| match argument {
            ColumnarValue::Array(array) => Ok(Arc::clone(array)),
            ColumnarValue::Scalar(value) => value.to_array(),
        };
        let arrays = arguments.iter().map(array).collect::<Result<Vec<_>>>()?;
        let made = apply(job, &arrays, &self.result(arrays[0].data_type())?)?;
        let is_constant = arguments.iter().all(|argument| matches!(argument, ColumnarValue::Scalar(_)));
        Ok(match is_constant {
            true => ColumnarValue::Scalar(ScalarValue::try_from_array(&made, 0)?),
            false => ColumnarValue::Array(made),
        })
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
            Some(first) => self.result(first),
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
        match (self.second(), &args.args[..]) {
            (None, arguments @ [_, ..]) | (Some(_), arguments @ [_]) => {
                self.with_job(&self.job(None)?, arguments)
            }
            (Some(_), [value, ColumnarValue::Scalar(name)]) => match name.try_as_str() {
                Some(Some(name)) => self.with_job(&self.job(Some(name))?, std::slice::from_ref(value)),
                _ => Ok(ColumnarValue::Scalar(ScalarValue::try_new_null(&self.result(&value.data_type())?)?)),
            },
            (Some(_), [value, ColumnarValue::Array(names)]) => {
                self.with_names(&value.to_array(args.number_rows)?, names).map(ColumnarValue::Array)
            }
            (_, arguments) => exec_err!("{} does not take {} arguments", self.sql.syntax(), arguments.len()),
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

impl Function {
    /// Applies the function with the set or profile of each row. Rows with the same name are processed together.
    fn with_names(&self, values: &ArrayRef, names: &ArrayRef) -> Result<ArrayRef> {
        let result = self.result(values.data_type())?;
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
        let flat = self.result(values.data_type())?;
        let mut made = vec![new_null_array(&flat, 1)];
        for (name, rows) in &groups[1..] {
            let job = self.job(*name)?;
            let some = if rows.len() == values.len() {
                Arc::clone(&values)
            } else {
                compute::take(&values, &UInt32Array::from(rows.clone()), None)?
            };
            made.push(apply(&job, &[some], &flat)?);
        }
        let made: Vec<&dyn Array> = made.iter().map(|some| &**some).collect();
        let flat = compute::interleave(&made, &places)?;
        Ok(if result == *flat.data_type() { flat } else { compute::cast(&flat, &result)? })
    }
}
