//! Values anywhere in memory, some of them null.

mod sealed {
    pub trait Sealed {}
    impl<T: AsRef<[u8]> + ?Sized> Sealed for &T {}
    impl<T: AsRef<[u8]> + ?Sized> Sealed for Option<&T> {}
}

/// A value that may be null: `&[u8]` or `Option<&[u8]>`, or a reference to anything else that is bytes (`&str`,
/// `Option<&String>`, ...). This trait is sealed.
///
/// ```
/// use simdpct::Decode;
/// use simdpct::batch::ColumnBuf;
///
/// // A null gives an empty value. The output does not record which values were null.
/// let mut out = ColumnBuf::<i32>::new();
/// Decode::new().decode_slices([Some("a%20b"), None, Some("c")], &mut out).unwrap();
/// assert_eq!(out.offsets(), [0, 3, 3, 4]);
/// ```
pub trait NullableBytes: sealed::Sealed {
    /// Returns the bytes of the value, or `None` if it is null.
    fn nullable_bytes(&self) -> Option<&[u8]>;
}

impl<T: AsRef<[u8]> + ?Sized> NullableBytes for &T {
    #[inline(always)]
    fn nullable_bytes(&self) -> Option<&[u8]> {
        Some((**self).as_ref())
    }
}

impl<T: AsRef<[u8]> + ?Sized> NullableBytes for Option<&T> {
    #[inline(always)]
    fn nullable_bytes(&self) -> Option<&[u8]> {
        self.map(AsRef::as_ref)
    }
}
