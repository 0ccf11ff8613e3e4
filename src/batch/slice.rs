//! Values that lie anywhere.

mod sealed {
    pub trait Sealed {}
    impl<T: AsRef<[u8]> + ?Sized> Sealed for &T {}
    impl<T: AsRef<[u8]> + ?Sized> Sealed for Option<&T> {}
}

/// A value that may be null: `&[u8]` or `Option<&[u8]>`, or a reference to anything else that is bytes (`&str`,
/// `Option<&String>`, ...). This trait is sealed.
pub trait NullableBytes: sealed::Sealed {
    /// The bytes, unless the value is null.
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
