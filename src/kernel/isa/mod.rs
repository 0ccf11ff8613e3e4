//! The tiers: which exist, which this CPU has, and the table of functions of each.
//!
//! `tiers!` is the one list. The token, the detection, the entry points and the table of a tier derive from its
//! line; tests, fuzzers and benchmarks iterate [`Tier::available`].

use core::fmt;
use core::sync::atomic::{AtomicPtr, Ordering};

use crate::kernel::cursor::{Room, Written};
use crate::kernel::drive::short::{Job, Operand};
use crate::kernel::ends::Ends;
use crate::kernel::job::{DecodeJob, EncodeJob, MalformedAt, Measure};
use crate::kernel::{drive, scalar};

/// Each of the four registers of a block, for tiers whose registers hold sixteen lanes. (A closure would not be inlined
/// into the entry points, nor then the intrinsics in it.)
///
/// The expression may use intrinsics of the tier that take and give registers; what reads or writes memory needs an
/// `unsafe` block of its own.
#[allow(unused_macros, reason = "some targets have no such tier")]
macro_rules! each {
    ($block:expr, |$quarter:ident| $value:expr) => {{
        let block = $block;
        each!(|i| {
            let $quarter = block[i];
            $value
        })
    }};
    (|$i:ident| $value:expr) => {{
        // SAFETY: it stands in a method of the tier's token, which proves the features of the intrinsics.
        #[allow(unused_unsafe, reason = "not every expression needs it")]
        unsafe {
            [
                {
                    let $i = 0;
                    $value
                },
                {
                    let $i = 1;
                    $value
                },
                {
                    let $i = 2;
                    $value
                },
                {
                    let $i = 3;
                    $value
                },
            ]
        }
    }};
}

#[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
mod avx2;
#[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
mod avx512;
#[cfg(all(target_arch = "aarch64", target_feature = "neon", target_endian = "little"))]
mod neon;
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
mod simd128;
#[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
mod sse2;
#[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
mod ssse3;
mod tables;

/// The functions of one tier: one slot for each operation.
#[allow(clippy::type_complexity, reason = "a slot shows the signature of its operation")]
#[cfg_attr(not(feature = "alloc"), allow(dead_code, reason = "the verbs of some slots allocate"))]
struct Kernels {
    name: &'static str,
    features: &'static [&'static str],
    detect: fn() -> bool,
    encode: for<'c> unsafe fn(&EncodeJob, &[u8], Room<'c>) -> Written<'c>,
    encode_measure: unsafe fn(&EncodeJob, &[u8]) -> Measure,
    encode_values: for<'c> unsafe fn(&EncodeJob, &[u8], &mut Ends, Room<'c>) -> Written<'c>,
    decode: for<'c> unsafe fn(&DecodeJob, &[u8], Room<'c>) -> Result<Written<'c>, MalformedAt>,
    decode_measure: unsafe fn(&DecodeJob, &[u8]) -> Result<Measure, MalformedAt>,
    decode_values:
        for<'c> unsafe fn(&DecodeJob, &[u8], &mut Ends, Room<'c>) -> Result<Written<'c>, MalformedAt>,
    decode_values_measure: unsafe fn(&DecodeJob, &[u8], &mut Ends) -> Result<Measure, MalformedAt>,
}

static SCALAR: Kernels = Kernels {
    name: "scalar",
    features: &[],
    detect: || true,
    encode: scalar::encode,
    encode_measure: scalar::encode_measure,
    encode_values: scalar::encode_values,
    decode: scalar::decode,
    decode_measure: scalar::decode_measure,
    decode_values: scalar::decode_values,
    decode_values_measure: scalar::decode_values_measure,
};

/// Whether this CPU has a feature; without `std`, whether the build assumes it.
#[cfg(all(feature = "std", any(target_arch = "x86", target_arch = "x86_64")))]
macro_rules! has {
    ($feature:tt) => {
        std::arch::is_x86_feature_detected!($feature)
    };
}
#[cfg(all(feature = "std", target_arch = "aarch64"))]
macro_rules! has {
    ($feature:tt) => {
        std::arch::is_aarch64_feature_detected!($feature)
    };
}
#[cfg(not(all(feature = "std", any(target_arch = "x86", target_arch = "x86_64", target_arch = "aarch64"))))]
#[allow(unused_macros, reason = "some targets have no vector tier")]
macro_rules! has {
    ($feature:tt) => {
        cfg!(target_feature = $feature)
    };
}

/// The entry point of an operation: the only kind of function that enables CPU features, and the only one that makes a
/// token.
///
/// Most inputs are short, under the plain rule, and have room to spare; most others are under the plain rule, too. Each kind
/// has a function of its own, since the prologue of one that does all takes longer than a short input.
macro_rules! entry {
    (
        [$($feature:tt)*] $token:ident
        $operation:ident($job:ident: $type_of_job:ty, $input:ident: &[u8] $(, $name:ident: $type:ty)*) -> $output:ty
    ) => {{
        $(#[target_feature(enable = $feature)])*
        fn $operation<'c>($job: $type_of_job, $input: &[u8] $(, $name: $type)*) -> $output {
            if !$job.is_plain() {
                return other($job, $input $(, $name)*);
            }
            match entry!(@short $token $operation($job, $input $(, $name)*)) {
                Some(done) => done,
                None if $input.len() <= entry!(@reach_of_few $token $operation) => few($job, $input $(, $name)*),
                None => plain($job, $input $(, $name)*),
            }
        }

        // A few blocks.
        $(#[target_feature(enable = $feature)])*
        #[inline(never)]
        fn few<'c>($job: $type_of_job, $input: &[u8] $(, $name: $type)*) -> $output {
            match entry!(@few $token $operation($job, $input $(, $name)*)) {
                Some(done) => done,
                None => plain($job, $input $(, $name)*),
            }
        }

        // Longer, or with little room.
        $(#[target_feature(enable = $feature)])*
        #[inline(never)]
        fn plain<'c>($job: $type_of_job, $input: &[u8] $(, $name: $type)*) -> $output {
            if $job.is_plain() {
                let tier = token::$token::new();
                drive::$operation(drive::Tier::wide(tier), $job, $input $(, $name)*)
            } else {
                any($job, $input $(, $name)*)
            }
        }

        // Short, under another rule.
        $(#[target_feature(enable = $feature)])*
        #[inline(never)]
        fn other<'c>($job: $type_of_job, $input: &[u8] $(, $name: $type)*) -> $output {
            match entry!(@short $token $operation($job, $input $(, $name)*)) {
                Some(done) => done,
                None => any($job, $input $(, $name)*),
            }
        }

        $(#[target_feature(enable = $feature)])*
        #[inline(never)]
        fn any<'c>($job: $type_of_job, $input: &[u8] $(, $name: $type)*) -> $output {
            let tier = token::$token::new();
            if $input.len() <= <token::$token as drive::Tier>::SHORT {
                drive::$operation(drive::Tier::narrow(tier), $job, $input $(, $name)*)
            } else {
                drive::$operation(drive::Tier::wide(tier), $job, $input $(, $name)*)
            }
        }

        $operation
    }};

    // An input of one block, narrow or wide; or one that is only copied.
    (@short $token:ident $operation:ident($job:ident, $input:ident $(, $name:ident)*)) => {{
        let tier = token::$token::new();
        let (narrow, wide) = (drive::Tier::narrow(tier), drive::Tier::wide(tier));
        if $input.len() <= <token::$token as drive::Tier>::SHORT {
            entry!(@block narrow $operation($job, $input $(, $name)*))
        } else if $input.len() <= drive::short::lanes(wide) {
            entry!(@block wide $operation($job, $input $(, $name)*))
        } else if $input.len() <= drive::short::look(wide) {
            entry!(@copy wide $operation($job, $input $(, $name)*))
        } else {
            None
        }
    }};
    (@block $isa:ident $operation:ident($job:ident, $input:ident $(, $name:ident)*)) => {
        match entry!(@copy $isa $operation($job, $input $(, $name)*)) {
            None if $job.is_direct($isa, usize::MAX $(.min($name.room()))*) => {
                Some(drive::$operation($isa, $job, $input $(, $name)*))
            }
            done => done,
        }
    };
    (@copy $isa:ident decode($($operand:ident),*)) => { drive::short::copy($isa, $($operand),*).map(Ok) };
    (@copy $isa:ident $operation:ident($($operand:ident),*)) => { None };

    (@reach_of_few $token:ident encode) => { drive::short::few(drive::Tier::wide(token::$token::new())) };
    (@reach_of_few $token:ident $operation:ident) => { 0 };
    (@few $token:ident encode($($operand:ident),*)) => {
        drive::encode_few(drive::Tier::wide(token::$token::new()), $($operand),*)
    };
    (@few $token:ident $operation:ident($($operand:ident),*)) => { None };
}

/// One line a tier, best first: its name, its token, the architectures, and every feature that it may use.
///
/// A token's only constructor enables exactly these features, and so does every entry point, so an entry that
/// forgets one does not compile (E0133).
macro_rules! tiers {
    ($($name:literal, $token:ident, $arch:meta, [$($feature:tt)*];)*) => {
        /// The capability tokens: who holds one runs on a CPU with the features of its tier.
        pub(crate) mod token {
            $(
                #[cfg($arch)]
                #[derive(Clone, Copy)]
                // INVARIANT: a value exists only where the CPU has the features of the tier.
                pub(crate) struct $token(());

                #[cfg($arch)]
                impl $token {
                    $(#[target_feature(enable = $feature)])*
                    #[inline]
                    pub(super) fn new() -> Self {
                        $token(())
                    }
                }
            )*
        }

        static TIERS: &[&Kernels] = &[
            $(
                #[cfg($arch)]
                &Kernels {
                    name: $name,
                    features: &[$($feature),*],
                    detect: || $(has!($feature))&&*,
                    encode: entry!([$($feature)*] $token encode(
                        job: &EncodeJob, input: &[u8], out: Room<'c>) -> Written<'c>),
                    encode_measure: entry!([$($feature)*] $token encode_measure(
                        job: &EncodeJob, input: &[u8]) -> Measure),
                    encode_values: entry!([$($feature)*] $token encode_values(
                        job: &EncodeJob, input: &[u8], ends: &mut Ends, out: Room<'c>) -> Written<'c>),
                    decode: entry!([$($feature)*] $token decode(
                        job: &DecodeJob, input: &[u8], out: Room<'c>) -> Result<Written<'c>, MalformedAt>),
                    decode_measure: entry!([$($feature)*] $token decode_measure(
                        job: &DecodeJob, input: &[u8]) -> Result<Measure, MalformedAt>),
                    decode_values: entry!([$($feature)*] $token decode_values(
                        job: &DecodeJob, input: &[u8], ends: &mut Ends, out: Room<'c>)
                        -> Result<Written<'c>, MalformedAt>),
                    decode_values_measure: entry!([$($feature)*] $token decode_values_measure(
                        job: &DecodeJob, input: &[u8], ends: &mut Ends) -> Result<Measure, MalformedAt>),
                },
            )*
            &SCALAR,
        ];
    };
}

tiers! {
    "avx512", Avx512, any(target_arch = "x86", target_arch = "x86_64"), [
        "avx512f" "avx512bw" "avx512vbmi" "avx512vbmi2" "avx2" "bmi1" "bmi2" "lzcnt" "popcnt"
    ];
    "avx2", Avx2, any(target_arch = "x86", target_arch = "x86_64"), ["avx2" "bmi1" "bmi2" "lzcnt" "popcnt"];
    "ssse3", Ssse3, any(target_arch = "x86", target_arch = "x86_64"), ["ssse3"];
    "sse2", Sse2, any(target_arch = "x86", target_arch = "x86_64"), ["sse2"];
    "neon", Neon, all(target_arch = "aarch64", target_feature = "neon", target_endian = "little"), ["neon"];
    "simd128", Simd128, all(target_arch = "wasm32", target_feature = "simd128"), ["simd128"];
}

/// A set of kernels for one instruction set, which this CPU has.
///
/// The library picks the best one by itself. A test iterates [`Tier::available`] to cover all; a person forces
/// one by the environment variable `SIMDPCT_TIER`, read once per process (with the feature `std`).
///
/// ```
/// use simdpct::{Encode, Tier, sets};
///
/// for tier in Tier::available() {
///     assert_eq!(Encode::new(sets::RFC3986_UNRESERVED).tier(tier).to_cow("a b"), "a%20b");
/// }
/// ```
// INVARIANT: the CPU has every feature of the kernels; a value comes from `available`, which asks it.
#[derive(Clone, Copy)]
pub struct Tier(&'static Kernels);

impl Tier {
    /// The environment variable that forces a tier.
    pub const ENVIRONMENT: &'static str = "SIMDPCT_TIER";

    /// The tiers of this CPU, best first. The last is always `scalar`.
    pub fn available() -> impl Iterator<Item = Tier> {
        TIERS.iter().filter(|kernels| (kernels.detect)()).map(|kernels| Tier(kernels))
    }

    /// The names of all tiers that this build holds, best first, whether this CPU has them or not.
    pub fn compiled() -> impl Iterator<Item = &'static str> {
        TIERS.iter().map(|kernels| kernels.name)
    }

    /// The tier called `name`, if this build holds it and this CPU has it.
    #[must_use]
    pub fn find(name: &str) -> Option<Tier> {
        Tier::available().find(|tier| tier.name() == name)
    }

    /// The tier in use: the one that the environment asks for, if this CPU has it, else the best.
    #[must_use]
    #[inline]
    pub fn active() -> Tier {
        static ACTIVE: AtomicPtr<Kernels> = AtomicPtr::new(core::ptr::null_mut());

        #[cold]
        fn choose() -> Tier {
            let tier = Tier::forced().or_else(|| Tier::available().next()).unwrap_or(Tier(&SCALAR));
            ACTIVE.store(core::ptr::from_ref(tier.0).cast_mut(), Ordering::Relaxed);
            tier
        }

        // SAFETY: the pointer is null, or was stored by `choose` from a `&'static` of an available tier.
        match unsafe { ACTIVE.load(Ordering::Relaxed).as_ref() } {
            Some(kernels) => Tier(kernels),
            None => choose(),
        }
    }

    #[cfg(feature = "std")]
    fn forced() -> Option<Tier> {
        Tier::find(std::env::var(Tier::ENVIRONMENT).ok()?.as_str())
    }

    #[cfg(not(feature = "std"))]
    fn forced() -> Option<Tier> {
        None
    }

    /// Its name, such as `avx2`.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.0.name
    }

    /// The CPU features that it uses, as the Rust reference names them.
    #[must_use]
    pub fn features(self) -> &'static [&'static str] {
        self.0.features
    }

    #[inline(always)]
    pub(crate) fn encode<'c>(self, job: &EncodeJob, input: &[u8], out: Room<'c>) -> Written<'c> {
        // SAFETY: by the invariant of `Tier` the CPU has the features of the kernels.
        unsafe { (self.0.encode)(job, input, out) }
    }

    #[inline(always)]
    pub(crate) fn encode_measure(self, job: &EncodeJob, input: &[u8]) -> Measure {
        // SAFETY: as in `encode`.
        unsafe { (self.0.encode_measure)(job, input) }
    }

    #[inline(always)]
    pub(crate) fn decode<'c>(
        self,
        job: &DecodeJob,
        input: &[u8],
        out: Room<'c>,
    ) -> Result<Written<'c>, MalformedAt> {
        // SAFETY: as in `encode`.
        unsafe { (self.0.decode)(job, input, out) }
    }

    #[inline(always)]
    pub(crate) fn decode_measure(self, job: &DecodeJob, input: &[u8]) -> Result<Measure, MalformedAt> {
        // SAFETY: as in `encode`.
        unsafe { (self.0.decode_measure)(job, input) }
    }

    #[cfg(feature = "alloc")]
    #[inline(always)]
    pub(crate) fn encode_values<'c>(
        self,
        job: &EncodeJob,
        input: &[u8],
        ends: &mut Ends,
        out: Room<'c>,
    ) -> Written<'c> {
        // SAFETY: as in `encode`.
        unsafe { (self.0.encode_values)(job, input, ends, out) }
    }

    #[cfg(feature = "alloc")]
    #[inline(always)]
    pub(crate) fn decode_values<'c>(
        self,
        job: &DecodeJob,
        input: &[u8],
        ends: &mut Ends,
        out: Room<'c>,
    ) -> Result<Written<'c>, MalformedAt> {
        // SAFETY: as in `encode`.
        unsafe { (self.0.decode_values)(job, input, ends, out) }
    }

    #[cfg(feature = "alloc")]
    #[inline(always)]
    pub(crate) fn decode_values_measure(
        self,
        job: &DecodeJob,
        input: &[u8],
        ends: &mut Ends,
    ) -> Result<Measure, MalformedAt> {
        // SAFETY: as in `encode`.
        unsafe { (self.0.decode_values_measure)(job, input, ends) }
    }
}

impl PartialEq for Tier {
    fn eq(&self, other: &Tier) -> bool {
        self.name() == other.name()
    }
}

impl Eq for Tier {}

impl fmt::Debug for Tier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Tier").field(&self.name()).finish()
    }
}

impl fmt::Display for Tier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
