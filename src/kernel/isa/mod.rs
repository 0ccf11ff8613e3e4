//! The tiers: which exist, which this CPU has, and for each operation the table of its kernels. A tier is the code for
//! one instruction set, and a kernel is the code for one operation in one tier.
//!
//! `tiers!` is the only list of tiers. The token, the detection and the entry points of a tier come from its row. Tests, fuzz targets and
//! benchmarks iterate over [`Tier::available`]. [`TIER_NAMES`] includes tiers of other machines. "lab: NAME" names docs/lab/DATE-NAME.md.

#![allow(
    clippy::needless_range_loop,
    reason = "loops over registers are unrolled, and the index says which register it is"
)]

use core::ffi::CStr;
use core::fmt;
use core::num::NonZeroUsize;
use core::sync::atomic::{AtomicUsize, Ordering};

use crate::kernel::cursor::{OutputSpan, Written};
#[allow(unused_imports, reason = "some targets have no vector tier")]
use crate::kernel::drive::{
    self, DecodeStep, EncodeStep, Features, Isa, Tier as _, bounds, decode as decoding, encode as encoding,
};
use crate::kernel::ends::Ends;
use crate::kernel::job::{DecodeJob, Decoded, EncodeJob, EncodeRule, Marks, Measure, Measured, Outcome};
use crate::kernel::scalar;
use crate::kernel::simd::Kernel;

#[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
mod avx2;
#[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
mod avx512;
mod blocks;
#[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
mod cpu;
#[cfg_attr(simdpct_lean, allow(dead_code, reason = "the tiers of a lean build have ladders of their own"))]
mod ladder;
pub(crate) mod look;
#[cfg(all(target_arch = "aarch64", target_feature = "neon", target_endian = "little"))]
mod neon;
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
mod simd128;
#[cfg(all(any(target_arch = "x86", target_arch = "x86_64"), not(simdpct_lean)))]
mod sse2;
#[cfg(all(any(target_arch = "x86", target_arch = "x86_64"), not(simdpct_lean)))]
mod ssse3;
mod tables;
#[allow(unused_imports, unused_macros, reason = "some targets have no vector tier")]
mod vector;

/// The properties of a tier that are known without a call of its kernels.
struct Description {
    name: &'static str,
    features: &'static [&'static str],
    detect: fn() -> bool,
}

/// Reports whether this CPU has a feature. Features that the build assumes need no detection. Outside x86, this detects
/// nothing and reports only these features.
#[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
macro_rules! has {
    ($feature:tt) => {
        cfg!(target_feature = $feature) || cpu::has(const { cpu::bit($feature) })
    };
}
#[cfg(not(any(target_arch = "x86", target_arch = "x86_64")))]
#[allow(unused_macros, reason = "some targets have no vector tier")]
macro_rules! has {
    ($feature:tt) => {
        cfg!(target_feature = $feature)
    };
}

/// Returns the entry point of an operation for one tier. It is a function with the CPU features of the tier, and calls
/// the driver (the code of the operation) with the token. `by_tier` means that the tier has a driver of its own: its
/// ladder, which chooses code by the length of the input.
#[allow(unused_macros, reason = "some targets have no vector tier")]
macro_rules! entry {
    ($features:tt $module:ident $token:ident $method:ident [by_tier] $operands:tt -> $output:ty) => {
        entry!($features $module $token $method [$module $method] $operands -> $output)
    };
    (
        [$($feature:tt)*] $module:ident $token:ident $method:ident [$drivers:ident $driver:ident]
        ($($operand:ident: $type:ty),*) -> $output:ty
    ) => {{
        $(#[target_feature(enable = $feature)])*
        fn entry<'c>($($operand: $type),*) -> $output {
            $drivers::$driver(token::$token::new(), $($operand),*)
        }
        entry
    }};
}

/// Makes the function that a table of kernels has for [`Tier::PENDING`]. The function chooses the active tier and calls
/// its kernel, so that public functions need no code for a process that has not chosen a tier.
macro_rules! choose_and {
    ($method:ident($($operand:ident: $type:ty),*) -> $output:ty) => {{
        #[allow(clippy::extra_unused_lifetimes, reason = "operations that only measure have no output memory")]
        #[cold]
        fn choose<'c>($($operand: $type),*) -> $output {
            Tier::active().$method($($operand),*)
        }
        choose
    }};
}

/// Returns `name`, which ends in its only NUL, as a C string. In a constant, any other name is a compile error.
const fn c_string(name: &'static str) -> &'static CStr {
    match CStr::from_bytes_with_nul(name.as_bytes()) {
        Ok(name) => name,
        Err(_) => panic!("the name of a tier ends in its only NUL"),
    }
}

/// Tests of the operations on blocks, for any tier.
#[cfg(all(test, feature = "std"))]
pub(crate) trait BlockVisitor {
    /// Tests the operations of `isa`, which the tier called `tier` uses.
    fn visit<I: Isa>(&mut self, isa: I, tier: &str);
}

/// Defines the tiers, best first. A row has the name of a tier, its token, its architectures, and every CPU feature that its
/// kernels may use.
///
/// The constructor of a token enables exactly these features, and so does every entry point. An entry point that forgets a
/// feature does not compile (E0133).
macro_rules! tiers {
    ($($module:ident, $token:ident, $arch:meta, [$($feature:tt)*];)*) => {
        /// The tokens of the tiers. A token is proof that the CPU has the features of its tier.
        pub(crate) mod token {
            $(
                #[cfg($arch)]
                #[derive(Clone, Copy)]
                // INVARIANT: a value exists only if the CPU has the features of the tier.
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

        // The functions called `step` are cold and not `inline(never)`. The compiler exports generic functions that are
        // never inlined, and reads the address of an exported function from memory for each call (lab: ladders).
        $(
            #[cfg($arch)]
            impl Features for token::$token {
                #[cfg_attr(optimized, inline(always))]
                fn encode_by<'c, S: EncodeStep>(
                    self,
                    job: &EncodeJob,
                    input: &[u8],
                    out: OutputSpan<'c>,
                ) -> Written<'c> {
                    $(#[target_feature(enable = $feature)])*
                    #[cold]
                    fn step<'c, S: EncodeStep>(job: &EncodeJob, input: &[u8], out: OutputSpan<'c>) -> Written<'c> {
                        S::encode(token::$token::new(), job, input, out)
                    }
                    // SAFETY: by the invariant of the token, `self` exists only if the CPU has the features that `step` enables.
                    unsafe { step::<S>(job, input, out) }
                }

                #[cfg_attr(optimized, inline(always))]
                fn decode_by<'c, S: DecodeStep>(
                    self,
                    job: &DecodeJob,
                    input: &[u8],
                    out: OutputSpan<'c>,
                ) -> Outcome<'c> {
                    $(#[target_feature(enable = $feature)])*
                    #[cold]
                    fn step<'c, S: DecodeStep>(job: &DecodeJob, input: &[u8], out: OutputSpan<'c>) -> Outcome<'c> {
                        S::decode(token::$token::new(), job, input, out)
                    }
                    // SAFETY: by the invariant of the token, `self` exists only if the CPU has the features that `step` enables.
                    unsafe { step::<S>(job, input, out) }
                }

                #[cfg_attr(optimized, inline(always))]
                fn measure_encoding(self, job: &EncodeJob, input: &[u8]) -> Measure {
                    $(#[target_feature(enable = $feature)])*
                    #[cold]
                    fn measure(job: &EncodeJob, input: &[u8]) -> Measure {
                        encoding::measure_any_length(token::$token::new().wide(), job, input)
                    }
                    // SAFETY: by the invariant of the token, `self` exists only if the CPU has the features that `measure` enables.
                    unsafe { measure(job, input) }
                }
            }
        )*

        /// The number of tiers in this build.
        const COUNT: usize = [$(#[cfg($arch)] stringify!($token),)* "Scalar"].len();

        static TIERS: [Description; COUNT] = [
            $(
                #[cfg($arch)]
                Description { name: stringify!($module), features: &[$($feature),*], detect: || $((has!($feature)))&&* },
            )*
            Description { name: "scalar", features: &[], detect: || true },
        ];

        /// The names of the tiers of all targets, those of each target best first, as C strings.
        pub const TIER_NAMES: &[&CStr] = &[$(c_string(concat!(stringify!($module), "\0")),)* c"scalar"];

        /// Whether the build assumes all features of the best tier, as with `-C target-cpu=native` on a CPU that has them. If that
        /// tier is in use, its kernels are then called directly and not through a table.
        const BEST_IS_CERTAIN: bool = [
            $(
                #[cfg($arch)]
                { cfg!(all($(target_feature = $feature),*)) },
            )*
            true,
        ][0];

        /// Calls `visitor` for each tier that this CPU has and `tested` accepts, inside a function with the tier's CPU features.
        #[cfg(all(test, feature = "std"))]
        pub(crate) fn visit_blocks(tested: impl Fn(&str) -> bool, visitor: &mut impl BlockVisitor) {
            let wanted = |name| Tier::find(name).is_some() && tested(name);
            $(
                #[cfg($arch)]
                {
                    $(#[target_feature(enable = $feature)])*
                    fn enter(visitor: &mut impl BlockVisitor) {
                        let tier = token::$token::new();
                        visitor.visit(tier.wide(), stringify!($module));
                        if <<token::$token as drive::Tier>::Narrow as Isa>::LANES < <<token::$token as drive::Tier>::Wide as Isa>::LANES {
                            visitor.visit(tier.narrow(), stringify!($module));
                        }
                    }
                    if wanted(stringify!($module)) {
                        // SAFETY: `wanted` calls `Tier::find`, which finds a tier only if the CPU has its features.
                        unsafe { enter(visitor) };
                    }
                }
            )*
        }

        /// Runs `kernel` with the vector instructions of `tier`. On the scalar tier, this calls [`Kernel::run_scalar`].
        ///
        /// The crate that calls this gets a copy of the kernel for each tier. So a function that is inlined into many crates should call it
        /// through a function that is neither generic nor inlined.
        #[inline(always)]
        pub fn run<K: Kernel>(tier: Tier, kernel: K) -> K::Output {
            $(
                #[cfg($arch)]
                $(#[target_feature(enable = $feature)])*
                fn $module<K: Kernel>(kernel: K) -> K::Output {
                    kernel.run(token::$token::new().narrow())
                }
            )*
            let kernels: &[unsafe fn(K) -> _; COUNT] = const { &[$(#[cfg($arch)] { $module::<K> },)* K::run_scalar] };
            // SAFETY: the functions are in the order of `TIERS`, so the one at the index of a tier enables the features of that tier.
            // By the invariant of `Tier`, the CPU has them.
            unsafe { kernels[tier.index()](kernel) }
        }

        tables! {
            [$($arch, $module, $token, [$($feature)*];)*]
            // For a single value, each tier has its own ladder, which chooses the code by the length and mode of the
            // input.
            ENCODE: encode = by_tier(job: &EncodeJob, input: &[u8], out: OutputSpan<'c>) -> Written<'c>;
            DECODE: decode = by_tier(job: &DecodeJob, input: &[u8], out: OutputSpan<'c>) -> Outcome<'c>;
            // The code of the other operations is the same for all tiers.
            ENCODE_MEASURE: encode_measure = encoding::measure(job: &EncodeJob, input: &[u8]) -> Measure;
            ENCODE_VALUES: encode_values = encoding::values(
                job: &EncodeJob, input: &[u8], ends: &mut Ends, out: OutputSpan<'c>) -> Written<'c>;
            DECODE_IN_PLACE: decode_in_place = decoding::in_place(input: &mut [u8]) -> Option<usize>;
            DECODE_MEASURE: decode_measure = decoding::measure(job: &DecodeJob, input: &[u8]) -> Measured;
            DECODE_VALUES: decode_values = decoding::values(
                job: &DecodeJob, input: &[u8], ends: &mut Ends, out: OutputSpan<'c>) -> Decoded<'c>;
            COPY_CLEAN: copy_clean = decoding::copy_clean(plus: bool, input: &[u8], out: OutputSpan<'c>) -> Decoded<'c>;
            PLACE_ENDS: place_ends = bounds::place_ends(by: i32, written: usize, ends: &mut Ends) -> bool;
            DECODE_MARKED: decode_marked = decoding::marked(
                job: &DecodeJob, input: &[u8], marks: Marks<'_>, out: OutputSpan<'c>) -> Decoded<'c>;
        }
    };
}

/// Defines the operations. For each row, this makes a table with one kernel for each tier, and the method of [`Tier`] that calls
/// the kernels.
///
/// Each operation has its own table, so that a linker drops the kernels of operations that a program never calls.
macro_rules! tables {
    ($tiers:tt $(
        $table:ident: $method:ident = $kind:ident $(:: $driver:ident)? ($($operand:ident: $type:ty),*) -> $output:ty;
    )*) => {
        $(
            table! { $tiers $table: $method = [$kind $($driver)?] ($($operand: $type),*) -> $output }
        )*

        #[allow(clippy::extra_unused_lifetimes, reason = "operations that only measure have no output memory")]
        #[cfg_attr(not(feature = "alloc"), allow(dead_code, reason = "some verbs need memory"))]
        impl Tier {
            $(
                #[allow(clippy::extra_unused_lifetimes, reason = "operations that only measure have no output memory")]
                #[cfg_attr(optimized, inline(always))]
                pub(crate) fn $method<'c>(self, $($operand: $type),*) -> $output {
                    // SAFETY: by the invariant of `Tier`, the index is that of a tier of this build, and the CPU has the features
                    // of that tier. Or the index is one more, that of the function that chooses a tier. If the best tier is certain, the
                    // CPU has its features, too.
                    unsafe {
                        // If the best tier is certain, a lean build offers no other one: see `Tier::held`.
                        if BEST_IS_CERTAIN && (cfg!(simdpct_lean) || self.index() == 0) {
                            // In a constant, the compiler sees which function is called, in every crate (lab: ladders).
                            (const { $table[0] })($($operand),*)
                        } else {
                            #[allow(clippy::type_complexity, reason = "as of the constant")]
                            static TABLE: [for<'c> unsafe fn($($type),*) -> $output; COUNT + 1] = $table;
                            TABLE.get_unchecked(self.index())($($operand),*)
                        }
                    }
                }
            )*
        }
    };
}

macro_rules! table {
    (
        [$($arch:meta, $module:ident, $token:ident, $features:tt;)*]
        $table:ident: $method:ident = $code:tt ($($operand:ident: $type:ty),*) -> $output:ty
    ) => {
        table! {
            @of [$(#[cfg($arch)] $module $token $features)*]
            $table $method $code ($($operand: $type),*) ($($type),*) -> $output
        }
    };
    (
        @of [$(#[$arch:meta] $module:ident $token:ident $features:tt)*]
        $table:ident $method:ident $code:tt $operands:tt ($($type:ty),*) -> $output:ty
    ) => {
        #[allow(clippy::type_complexity, reason = "a table shows the signature of its operation")]
        const $table: [for<'c> unsafe fn($($type),*) -> $output; COUNT + 1] = [
            $(
                #[$arch]
                { entry!($features $module $token $method $code $operands -> $output) },
            )*
            scalar::$method,
            choose_and! { $method $operands -> $output },
        ];
    };
}

tiers! {
    avx512, Avx512, any(target_arch = "x86", target_arch = "x86_64"), [
        "avx512f" "avx512bw" "avx512vbmi" "avx512vbmi2" "avx512vpopcntdq" "avx2" "bmi1" "bmi2" "lzcnt" "popcnt"
    ];
    avx2, Avx2, any(target_arch = "x86", target_arch = "x86_64"), ["avx2" "bmi1" "bmi2" "lzcnt" "popcnt"];
    ssse3, Ssse3, all(any(target_arch = "x86", target_arch = "x86_64"), not(simdpct_lean)), ["ssse3"];
    sse2, Sse2, all(any(target_arch = "x86", target_arch = "x86_64"), not(simdpct_lean)), ["sse2"];
    neon, Neon, all(target_arch = "aarch64", target_feature = "neon", target_endian = "little"), ["neon"];
    simd128, Simd128, all(target_arch = "wasm32", target_feature = "simd128"), ["simd128"];
}

/// Returns `mask` unchanged. On x86-64, this hides from the compiler how the mask was made.
#[inline(always)]
#[allow(unused_mut, reason = "it changes only on x86-64")]
pub fn opaque(mut mask: u64) -> u64 {
    // Without the assembly, the compiler computes a union of several masks bit by bit on x86 (lab: uri-kernels).
    #[cfg(target_arch = "x86_64")]
    // SAFETY: the assembly is a comment, so it changes no register, no memory and no flag.
    unsafe {
        core::arch::asm!("/* {0} */", inout(reg) mask, options(pure, nomem, nostack, preserves_flags));
    }
    mask
}

/// A set of kernels for one instruction set, which this CPU has.
///
/// The library picks the best tier on first use. [`Tier::init`] fixes another one for the process. With the feature
/// `std`, the environment variable `SIMDPCT_TIER` fixes it, too; the variable is read once. A test that iterates over
/// [`Tier::available`] covers all tiers of its CPU.
///
/// ```
/// use simdpct::{Encode, Tier, sets};
///
/// for tier in Tier::available() {
///     assert_eq!(Encode::keeping(sets::RFC3986_UNRESERVED).tier(tier).encode("a b"), "a%20b");
/// }
/// ```
// INVARIANT: the number is one more than an index of `TIERS`, and the CPU has every feature of that tier. A value comes from
// `available`, which detects the features, or is the scalar tier. Or it is `PENDING`, which only calls of kernels use.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Tier(NonZeroUsize);

/// The number of the active tier, or that of [`Tier::PENDING`] before one is chosen.
// INVARIANT: it is not 0.
static ACTIVE: AtomicUsize = AtomicUsize::new(Tier::PENDING.0.get());

impl Tier {
    /// The environment variable that selects a tier, with the feature `std`.
    pub const ENV_VAR: &'static str = "SIMDPCT_TIER";

    pub(crate) const SCALAR: Tier = Tier(NonZeroUsize::new(COUNT).unwrap());

    /// The value of [`ACTIVE`] before a tier is chosen. Its kernels choose the active tier, and call the kernel of the
    /// chosen tier.
    const PENDING: Tier = Tier(NonZeroUsize::new(COUNT + 1).unwrap());

    /// Returns the active tier, or [`Tier::PENDING`] if none is chosen yet. Only kernels of the result may be called.
    #[inline(always)]
    pub(crate) fn active_or_pending() -> Tier {
        // SAFETY: by the invariant of `ACTIVE`, the number is not 0.
        Tier(unsafe { NonZeroUsize::new_unchecked(ACTIVE.load(Ordering::Relaxed)) })
    }

    #[cfg_attr(optimized, inline(always))]
    fn index(self) -> usize {
        self.0.get() - 1
    }

    /// Returns the tiers whose kernels this build holds. A lean build (`--cfg simdpct_lean`) that assumes the features
    /// of the best tier calls only kernels of that tier, so that a linker drops all others.
    fn held() -> &'static [Description] {
        if BEST_IS_CERTAIN && cfg!(simdpct_lean) { &TIERS[..1] } else { &TIERS }
    }

    /// Returns the tiers of this CPU, best first. The last is `scalar`, unless the build holds the best tier only.
    pub fn available() -> impl Iterator<Item = Tier> {
        let numbers = (1..=COUNT).filter_map(NonZeroUsize::new);
        numbers.zip(Tier::held()).filter(|(_, tier)| (tier.detect)()).map(|(number, _)| Tier(number))
    }

    /// Returns the names of all tiers that this build holds, best first, whether this CPU has them or not.
    pub fn compiled() -> impl Iterator<Item = &'static str> {
        Tier::held().iter().map(|tier| tier.name)
    }

    /// Returns the name and the CPU features of each tier that this build holds, best first.
    pub(crate) fn compiled_features() -> impl Iterator<Item = (&'static str, &'static [&'static str])> {
        Tier::held().iter().map(|tier| (tier.name, tier.features))
    }

    /// Returns the tier called `name`, if this build holds it and this CPU has it.
    ///
    /// ```
    /// use simdpct::Tier;
    /// assert_eq!(Tier::find("scalar").map(Tier::name), Some("scalar"));
    /// assert_eq!(Tier::find("mmx"), None);
    /// ```
    #[must_use]
    pub fn find(name: &str) -> Option<Tier> {
        Tier::available().find(|tier| tier.name() == name)
    }

    /// Returns the tier in use. Unless [`Tier::init`] has fixed it, this call or the first call that needs a kernel chooses
    /// it: the tier that the environment asks for, if this build holds it and this CPU has it, else the best.
    #[must_use]
    #[inline]
    pub fn active() -> Tier {
        #[cold]
        fn choose() -> Tier {
            let tier = Tier::forced().or_else(|| Tier::available().next()).unwrap_or(Tier::SCALAR);
            match Tier::init(tier) {
                Ok(()) => tier,
                Err(error) => error.in_use,
            }
        }

        match Tier::active_or_pending() {
            Tier::PENDING => choose(),
            tier => tier,
        }
    }

    /// Makes `tier` the active one for the rest of the process, whatever the environment says. Call it before the first
    /// encoding or decoding: at the start of `main`, or when a library is loaded.
    ///
    /// # Errors
    ///
    /// [`TierInUse`] if another tier is active already; it stays active.
    ///
    /// ```
    /// use simdpct::Tier;
    ///
    /// let tier = Tier::find("scalar").unwrap();
    /// Tier::init(tier)?;
    /// assert_eq!(Tier::active(), tier);
    /// # Ok::<(), simdpct::TierInUse>(())
    /// ```
    pub fn init(tier: Tier) -> Result<(), TierInUse> {
        let (pending, number) = (Tier::PENDING.0.get(), tier.0.get());
        match ACTIVE.compare_exchange(pending, number, Ordering::Relaxed, Ordering::Relaxed) {
            Err(other) if other != number => Err(TierInUse { in_use: Tier::active_or_pending() }),
            _ => Ok(()),
        }
    }

    #[cfg(feature = "std")]
    fn forced() -> Option<Tier> {
        Tier::find(std::env::var(Tier::ENV_VAR).ok()?.as_str())
    }

    #[cfg(not(feature = "std"))]
    fn forced() -> Option<Tier> {
        None
    }

    /// Encodes consecutive values in `input` that end at `ends`, and maps their ends to those in the output.
    #[inline(always)]
    pub(crate) fn encode_batch<'c>(
        self,
        job: &EncodeJob,
        input: &[u8],
        ends: &mut Ends,
        out: OutputSpan<'c>,
    ) -> Written<'c> {
        if job.rule == EncodeRule::KeepEscapes {
            ends.mark();
        }
        let written = self.encode_values(job, input, ends, out);
        self.place_ends(2, written.len(), ends);
        written
    }

    /// Decodes consecutive values in `input` that end at `ends`, and maps their ends to those in the output. If a malformed escape
    /// stops a strict decoding, the ends are unspecified.
    // It is not inlined, so that the callers share one copy.
    #[inline(never)]
    pub(crate) fn decode_batch<'c>(
        self,
        job: &DecodeJob,
        input: &[u8],
        ends: &mut Ends,
        out: OutputSpan<'c>,
    ) -> Decoded<'c> {
        if !job.is_plain() {
            ends.mark();
        }
        loop {
            let decoded = self.decode_values(job, input, ends, out);
            let crossed = self.place_ends(-1, decoded.written.len(), ends);
            // No escape crosses an end that is marked, so the loop ends.
            if !crossed || ends.are_marked() {
                return decoded;
            }
            ends.mark();
        }
    }

    /// Returns the name of the tier, such as `avx2`.
    #[must_use]
    pub fn name(self) -> &'static str {
        TIERS[self.index()].name
    }

    /// Returns the CPU features that the tier uses, as the Rust reference names them.
    #[must_use]
    pub fn features(self) -> &'static [&'static str] {
        TIERS[self.index()].features
    }
}

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

/// The error of [`Tier::init`]: another tier is active already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TierInUse {
    /// The tier that is, and stays, active.
    pub in_use: Tier,
}

impl fmt::Display for TierInUse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "tier {} is already in use; call Tier::init before any verb of simdpct", self.in_use)
    }
}

impl core::error::Error for TierInUse {}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tests that a build offers all tiers of this CPU, but a lean build for the best tier only that one. `.ci/run capi`
    /// makes a lean build.
    #[test]
    fn a_lean_build_for_the_best_tier_has_no_other() {
        let count = if BEST_IS_CERTAIN && cfg!(simdpct_lean) { 1 } else { COUNT };
        assert!(Tier::compiled().eq(TIERS[..count].iter().map(|tier| tier.name)));
        for (index, tier) in TIERS.iter().enumerate() {
            assert_eq!(Tier::find(tier.name).is_some(), index < count && (tier.detect)(), "{}", tier.name);
        }
    }
}
