//! Forms as values of types that implement serde's traits. The functions accept and return the same as those of the crate
//! serde_urlencoded 0.7.

use alloc::borrow::{Cow, ToOwned};
use alloc::string::{String, ToString};
use core::fmt;

use serde::de::value::{Error as ValueError, MapDeserializer};
use serde::de::{self, Deserialize, Error as _, IntoDeserializer, Visitor};
use serde::ser::{self, Serialize};

use super::{Serializer, TextPairs, pairs_utf8};

/// Reads a form into a value: a struct, a map or a sequence of pairs.
///
/// Fields are numbers, `bool`s, `char`s, text, enums without data, and newtypes and [`Option`]s of these. Names and values are decoded
/// as by [`pairs_utf8`]; a borrowed `&str` is possible if decoding does not change it. A name that occurs twice is an error for a
/// struct; a sequence of pairs has both. Takes time linear in the form.
///
/// # Errors
///
/// [`FromFormError`] if the form does not fit the type.
///
/// ```
/// use simdpct_uri::form;
///
/// #[derive(serde::Deserialize, serde::Serialize, PartialEq, Debug)]
/// struct Search {
///     q: String,
///     page: Option<u32>,
/// }
///
/// let search: Search = form::from_str("q=fish+%26+chips&page=2")?;
/// assert_eq!(search, Search { q: "fish & chips".into(), page: Some(2) });
/// assert_eq!(form::to_string(&search)?, "q=fish+%26+chips&page=2");
/// assert_eq!(form::from_str::<Search>("page=2").unwrap_err().to_string(), "missing field `q`");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn from_str<'de, T: Deserialize<'de>>(input: &'de str) -> Result<T, FromFormError> {
    from_bytes(input.as_bytes())
}

/// Reads a form into a value. Bytes that are not UTF-8 become U+FFFD. See [`from_str`].
///
/// # Errors
///
/// [`FromFormError`] if the form does not fit the type.
///
/// ```
/// let pairs: Vec<(char, u8)> = simdpct_uri::form::from_bytes(b"a=1&%C3%A9=2").unwrap();
/// assert_eq!(pairs, [('a', 1), ('\u{e9}', 2)]);
/// ```
pub fn from_bytes<'de, T: Deserialize<'de>>(input: &'de [u8]) -> Result<T, FromFormError> {
    T::deserialize(Form(MapDeserializer::new(Values(pairs_utf8(input))))).map_err(FromFormError)
}

/// The error of [`from_str`] and [`from_bytes`]: the form does not fit the type.
#[derive(Clone, Debug, PartialEq)]
pub struct FromFormError(ValueError);

impl fmt::Display for FromFormError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl core::error::Error for FromFormError {}

/// A form to deserialize.
struct Form<'de>(MapDeserializer<'de, Values<'de>, ValueError>);

impl<'de> de::Deserializer<'de> for Form<'de> {
    type Error = ValueError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ValueError> {
        visitor.visit_map(self.0)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ValueError> {
        visitor.visit_seq(self.0)
    }

    fn deserialize_unit<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ValueError> {
        self.0.end()?;
        visitor.visit_unit()
    }

    serde::forward_to_deserialize_any! {
        bool u8 u16 u32 u64 i8 i16 i32 i64 f32 f64 char str string option bytes byte_buf unit_struct newtype_struct tuple_struct
        struct identifier tuple enum ignored_any map
    }
}

/// The names and values of a form.
struct Values<'de>(TextPairs<'de>);

impl<'de> Iterator for Values<'de> {
    type Item = (Value<'de>, Value<'de>);

    fn next(&mut self) -> Option<Self::Item> {
        self.0.next().map(|(name, value)| (Value(name), Value(value)))
    }
}

/// A name or a value to deserialize.
struct Value<'de>(Cow<'de, str>);

impl<'de> IntoDeserializer<'de> for Value<'de> {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

/// Defines methods that parse the text as a type.
macro_rules! parsed {
    ($($method:ident: $type:ty,)*) => {
        $(fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ValueError> {
            let value: $type = self.0.parse().map_err(ValueError::custom)?;
            value.into_deserializer().$method(visitor)
        })*
    };
}

impl<'de> de::Deserializer<'de> for Value<'de> {
    type Error = ValueError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ValueError> {
        match self.0 {
            Cow::Borrowed(text) => visitor.visit_borrowed_str(text),
            Cow::Owned(text) => visitor.visit_string(text),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ValueError> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, ValueError> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ValueError> {
        visitor.visit_enum(self)
    }

    parsed! {
        deserialize_bool: bool,
        deserialize_u8: u8,
        deserialize_u16: u16,
        deserialize_u32: u32,
        deserialize_u64: u64,
        deserialize_i8: i8,
        deserialize_i16: i16,
        deserialize_i32: i32,
        deserialize_i64: i64,
        deserialize_f32: f32,
        deserialize_f64: f64,
    }

    serde::forward_to_deserialize_any! {
        char str string unit bytes byte_buf unit_struct tuple_struct struct identifier tuple ignored_any seq map
    }
}

/// An enum is the name of a variant without data.
impl<'de> de::EnumAccess<'de> for Value<'de> {
    type Error = ValueError;
    type Variant = Unit;

    fn variant_seed<S: de::DeserializeSeed<'de>>(self, seed: S) -> Result<(S::Value, Unit), ValueError> {
        seed.deserialize(self.0.into_deserializer()).map(|variant| (variant, Unit))
    }
}

/// The content of a variant, which has none.
struct Unit;

fn not_unit<T>() -> Result<T, ValueError> {
    Err(ValueError::custom("expected unit variant"))
}

impl<'de> de::VariantAccess<'de> for Unit {
    type Error = ValueError;

    fn unit_variant(self) -> Result<(), ValueError> {
        Ok(())
    }

    fn newtype_variant_seed<T: de::DeserializeSeed<'de>>(self, _seed: T) -> Result<T::Value, ValueError> {
        not_unit()
    }

    fn tuple_variant<V: Visitor<'de>>(self, _len: usize, _visitor: V) -> Result<V::Value, ValueError> {
        not_unit()
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        _fields: &'static [&'static str],
        _visitor: V,
    ) -> Result<V::Value, ValueError> {
        not_unit()
    }
}

/// Writes a value as a form: a struct, a map or a sequence of pairs. See [`from_str`] for the types of fields and an example.
///
/// A field that is `None` is left out. A float is written in the shortest form that reads back as the same float. Takes time linear
/// in the form.
///
/// # Errors
///
/// [`ToFormError`] if the type cannot be written, for example because a field is a sequence.
pub fn to_string(value: impl Serialize) -> Result<String, ToFormError> {
    let mut form = Serializer::new();
    value.serialize(Writer { form: &mut form, place: Place::Form })?;
    Ok(form.finish())
}

/// The error of [`to_string`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ToFormError {
    /// The value is not a struct, a map or a sequence of pairs.
    Form,
    /// An element of a sequence is not a pair.
    Pair,
    /// A name is not text or a number.
    Name,
    /// A value is not text or a number.
    Value,
    /// A name or value is bytes that are not UTF-8.
    InvalidUtf8(core::str::Utf8Error),
    /// The message of an implementation of [`Serialize`].
    Custom(String),
}

impl fmt::Display for ToFormError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ToFormError::Form => {
                f.write_str("only a struct, a map or a sequence of pairs can be written as a form")
            }
            ToFormError::Pair => {
                f.write_str("an element of the sequence is not a pair of a name and a value")
            }
            ToFormError::Name => f.write_str("a name in a form must be text or a number"),
            ToFormError::Value => f.write_str("a value in a form must be text or a number"),
            ToFormError::InvalidUtf8(error) => write!(f, "bytes in a form must be UTF-8: {error}"),
            ToFormError::Custom(message) => f.write_str(message),
        }
    }
}

impl core::error::Error for ToFormError {}

impl ser::Error for ToFormError {
    fn custom<T: fmt::Display>(message: T) -> ToFormError {
        ToFormError::Custom(message.to_string())
    }
}

/// The place in a form that a [`Writer`] writes to.
enum Place<'a> {
    /// The whole form.
    Form,
    /// An element of a sequence. It holds the name after that has been written.
    Pair(Option<String>),
    /// An element of a sequence whose name and value have been written.
    WholePair,
    /// A name. It is stored here.
    Name(&'a mut Option<String>),
    /// The value of the pair with this name.
    Value(&'a str),
}

/// Serializes a value to one place in a form.
struct Writer<'a> {
    form: &'a mut Serializer,
    place: Place<'a>,
}

impl Writer<'_> {
    fn unsupported(&self) -> ToFormError {
        match self.place {
            Place::Form => ToFormError::Form,
            Place::Pair(_) | Place::WholePair => ToFormError::Pair,
            Place::Name(_) => ToFormError::Name,
            Place::Value(_) => ToFormError::Value,
        }
    }

    fn text(self, text: &str) -> Result<(), ToFormError> {
        match self.place {
            Place::Name(name) => *name = Some(text.to_owned()),
            Place::Value(name) => {
                self.form.append_pair(name, text);
            }
            _ => return Err(self.unsupported()),
        }
        Ok(())
    }
}

fn float(value: &(impl ryu::Float + Copy)) -> String {
    ryu::Buffer::new().format(*value).to_owned()
}

/// Defines methods that write a value as the text that `$text` makes of it.
macro_rules! numbers {
    ($text:path, $($method:ident: $type:ty,)*) => {
        $(fn $method(self, value: $type) -> Result<(), ToFormError> {
            self.text(&$text(&value))
        })*
    };
}

/// Defines methods for variants with data and for tuple structs, which cannot be written.
macro_rules! unsupported {
    ($($method:ident($($type:ty),*) -> $result:ty;)*) => {
        $(fn $method(self, $(_: $type),*) -> Result<$result, ToFormError> {
            Err(self.unsupported())
        })*
    };
}

impl<'a> ser::Serializer for Writer<'a> {
    type Ok = ();
    type Error = ToFormError;
    type SerializeSeq = Self;
    type SerializeTuple = Self;
    type SerializeTupleStruct = ser::Impossible<(), ToFormError>;
    type SerializeTupleVariant = ser::Impossible<(), ToFormError>;
    type SerializeMap = Entries<'a>;
    type SerializeStruct = Self;
    type SerializeStructVariant = ser::Impossible<(), ToFormError>;

    numbers! { ToString::to_string,
        serialize_bool: bool,
        serialize_i8: i8,
        serialize_i16: i16,
        serialize_i32: i32,
        serialize_i64: i64,
        serialize_i128: i128,
        serialize_u8: u8,
        serialize_u16: u16,
        serialize_u32: u32,
        serialize_u64: u64,
        serialize_u128: u128,
        serialize_char: char,
    }

    numbers! { float,
        serialize_f32: f32,
        serialize_f64: f64,
    }

    fn serialize_str(self, text: &str) -> Result<(), ToFormError> {
        self.text(text)
    }

    fn serialize_bytes(self, bytes: &[u8]) -> Result<(), ToFormError> {
        match core::str::from_utf8(bytes) {
            Ok(text) => self.text(text),
            Err(error) if matches!(self.place, Place::Name(_) | Place::Value(_)) => {
                Err(ToFormError::InvalidUtf8(error))
            }
            Err(_) => Err(self.unsupported()),
        }
    }

    fn serialize_none(self) -> Result<(), ToFormError> {
        match self.place {
            Place::Name(_) => Err(self.unsupported()),
            _ => Ok(()),
        }
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), ToFormError> {
        match self.place {
            Place::Name(_) => Err(self.unsupported()),
            _ => value.serialize(self),
        }
    }

    fn serialize_unit(self) -> Result<(), ToFormError> {
        match self.place {
            Place::Form => Ok(()),
            _ => Err(self.unsupported()),
        }
    }

    fn serialize_unit_struct(self, name: &'static str) -> Result<(), ToFormError> {
        match self.place {
            Place::Form => Ok(()),
            _ => self.text(name),
        }
    }

    fn serialize_unit_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
    ) -> Result<(), ToFormError> {
        self.text(variant)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _name: &'static str,
        value: &T,
    ) -> Result<(), ToFormError> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _name: &'static str,
        _index: u32,
        _variant: &'static str,
        _value: &T,
    ) -> Result<(), ToFormError> {
        Err(self.unsupported())
    }

    fn serialize_seq(self, _len: Option<usize>) -> Result<Self, ToFormError> {
        match self.place {
            Place::Form => Ok(self),
            _ => Err(self.unsupported()),
        }
    }

    fn serialize_tuple(self, len: usize) -> Result<Self, ToFormError> {
        match self.place {
            Place::Form => Ok(self),
            Place::Pair(_) if len == 2 => Ok(self),
            _ => Err(self.unsupported()),
        }
    }

    fn serialize_map(self, _len: Option<usize>) -> Result<Entries<'a>, ToFormError> {
        match self.place {
            Place::Form => Ok(Entries { form: self.form, name: None }),
            _ => Err(self.unsupported()),
        }
    }

    fn serialize_struct(self, _name: &'static str, _len: usize) -> Result<Self, ToFormError> {
        match self.place {
            Place::Form => Ok(self),
            _ => Err(self.unsupported()),
        }
    }

    unsupported! {
        serialize_tuple_struct(&'static str, usize) -> Self::SerializeTupleStruct;
        serialize_tuple_variant(&'static str, u32, &'static str, usize) -> Self::SerializeTupleVariant;
        serialize_struct_variant(&'static str, u32, &'static str, usize) -> Self::SerializeStructVariant;
    }
}

/// A sequence of pairs.
impl ser::SerializeSeq for Writer<'_> {
    type Ok = ();
    type Error = ToFormError;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), ToFormError> {
        value.serialize(Writer { form: self.form, place: Place::Pair(None) })
    }

    fn end(self) -> Result<(), ToFormError> {
        Ok(())
    }
}

/// A tuple of pairs, or the name and the value of one pair.
impl ser::SerializeTuple for Writer<'_> {
    type Ok = ();
    type Error = ToFormError;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), ToFormError> {
        let place = match &mut self.place {
            Place::Form => Place::Pair(None),
            Place::Pair(Some(name)) => {
                value.serialize(Writer { form: self.form, place: Place::Value(name) })?;
                self.place = Place::WholePair;
                return Ok(());
            }
            Place::Pair(name) => Place::Name(name),
            _ => return Err(self.unsupported()),
        };
        value.serialize(Writer { form: self.form, place })
    }

    fn end(self) -> Result<(), ToFormError> {
        match self.place {
            Place::Form | Place::WholePair => Ok(()),
            _ => Err(self.unsupported()),
        }
    }
}

impl ser::SerializeStruct for Writer<'_> {
    type Ok = ();
    type Error = ToFormError;

    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        name: &'static str,
        value: &T,
    ) -> Result<(), ToFormError> {
        value.serialize(Writer { form: self.form, place: Place::Value(name) })
    }

    fn end(self) -> Result<(), ToFormError> {
        Ok(())
    }
}

/// Serializes the entries of a map.
struct Entries<'a> {
    form: &'a mut Serializer,
    name: Option<String>,
}

impl ser::SerializeMap for Entries<'_> {
    type Ok = ();
    type Error = ToFormError;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, name: &T) -> Result<(), ToFormError> {
        name.serialize(Writer { form: self.form, place: Place::Name(&mut self.name) })
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), ToFormError> {
        let name = self.name.take().ok_or(ToFormError::Name)?;
        value.serialize(Writer { form: self.form, place: Place::Value(&name) })
    }

    fn end(self) -> Result<(), ToFormError> {
        Ok(())
    }
}
