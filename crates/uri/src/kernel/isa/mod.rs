//! The instruction sets, and the choice between them at run time. Only this module and its submodules have `unsafe` and intrinsics.
//!
//! The choice follows [`simdpct::Tier`]: the first row of `levels!` whose features the tier has. The scalar tier has no kernels.

use core::sync::atomic::{AtomicU8, Ordering};

use simdpct::Tier;

use super::Operation;
use super::split::Split;
use crate::offsets::Offsets;

#[cfg(all(target_arch = "aarch64", target_feature = "neon", target_endian = "little"))]
mod neon;
mod short;
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
mod simd128;
#[cfg(target_arch = "x86_64")]
mod x86;

/// The features that this build enables for every CPU, and that a tier does not name.
const BASELINE: &[&str] = if cfg!(target_feature = "sse2") { &["sse2"] } else { &[] };

/// Defines the instruction sets, best first: the tokens, the only functions that enable their features, and [`Level`]. A row has the
/// token, a number from 2 on, the architectures, and every CPU feature that the kernels may use.
macro_rules! levels {
    ($($token:ident = $number:literal, $arch:meta, [$($feature:tt)*];)*) => {
        /// The tokens of the instruction sets. A token is proof that this CPU has the features of its row.
        pub(crate) mod token {
            #[allow(unused_imports, reason = "some targets have no kernels")]
            use super::*;

            $(
                #[cfg($arch)]
                #[derive(Clone, Copy)]
                // INVARIANT: a value exists only if this CPU has the features.
                pub(crate) struct $token(());

                #[cfg($arch)]
                impl $token {
                    /// Makes the token. The private field and this attribute make it a proof: safe code can call this function only
                    /// where the features are enabled.
                    $(#[target_feature(enable = $feature)])*
                    #[inline]
                    pub(super) fn new() -> $token {
                        $token(())
                    }

                    /// Runs `operation` with the features enabled.
                    #[cfg(feature = "alloc")]
                    $(#[target_feature(enable = $feature)])*
                    pub(super) fn run<O: Operation>(self, operation: O) -> O::Output {
                        operation.run(self)
                    }

                    /// Splits one URL.
                    $(#[target_feature(enable = $feature)])*
                    pub(super) fn split(self, operation: Split<'_>) -> Offsets {
                        operation.run(self)
                    }
                }
            )*
        }

        /// The instruction set whose kernels run, with the token that proves that this CPU has its features.
        #[derive(Clone, Copy)]
        pub(crate) enum Level {
            Scalar,
            $(#[cfg($arch)] $token(token::$token),)*
        }

        #[allow(unused_unsafe, reason = "WebAssembly enables features for a whole module, so no call there is unsafe")]
        impl Level {
            /// Returns the level with the best kernels for `tier`.
            pub(crate) fn of(tier: Tier) -> Level {
                #[allow(unused_variables, reason = "some targets have no kernels")]
                let has = |feature: &&str| tier.features().contains(feature) || BASELINE.contains(feature);
                $(
                    #[cfg($arch)]
                    if !tier.features().is_empty() && [$($feature),*].iter().all(has) {
                        // SAFETY: `has` is true of every feature that `new` enables, and this CPU has the features of a `Tier`,
                        // which exists on no other, and those of the baseline, without which this build does not run.
                        return Level::$token(unsafe { token::$token::new() });
                    }
                )*
                Level::Scalar
            }

            /// Returns the level of the active tier. The level is chosen once.
            #[inline(always)]
            pub(crate) fn active() -> Level {
                // INVARIANT: 0, or the number of a level that `Level::of` has returned. Only `choose` writes it.
                static ACTIVE: AtomicU8 = AtomicU8::new(0);

                #[cold]
                fn choose() -> Level {
                    let level = Level::of(Tier::active());
                    let number = match level {
                        Level::Scalar => 1,
                        $(#[cfg($arch)] Level::$token(_) => $number,)*
                    };
                    ACTIVE.store(number, Ordering::Relaxed);
                    level
                }

                match ACTIVE.load(Ordering::Relaxed) {
                    1 => Level::Scalar,
                    // SAFETY: `choose` stored this number because it held this token, so this CPU has its features.
                    $(#[cfg($arch)] $number => Level::$token(unsafe { token::$token::new() }),)*
                    _ => choose(),
                }
            }

            /// Splits one URL. Unlike [`Level::run`], this is not generic, so callers in other crates share one copy of the kernel.
            #[inline(always)]
            pub(crate) fn split(self, url: &[u8]) -> Offsets {
                let operation = Split { url };
                match self {
                    Level::Scalar => operation.run_scalar(),
                    // SAFETY: the token exists only on a CPU with the features that its methods enable.
                    $(#[cfg($arch)] Level::$token(isa) => unsafe { isa.split(operation) },)*
                }
            }

            /// Runs `operation` with the kernels of this level.
            #[cfg(feature = "alloc")]
            pub(crate) fn run<O: Operation>(self, operation: O) -> O::Output {
                match self {
                    Level::Scalar => operation.run_scalar(),
                    // SAFETY: the token exists only on a CPU with the features that its methods enable.
                    $(#[cfg($arch)] Level::$token(isa) => unsafe { isa.run(operation) },)*
                }
            }
        }
    };
}

levels! {
    Avx512 = 2, target_arch = "x86_64", ["avx512f" "avx512bw" "avx512vbmi" "avx2" "bmi1" "bmi2" "lzcnt" "popcnt"];
    Avx2 = 3, target_arch = "x86_64", ["avx2" "bmi1" "bmi2" "lzcnt" "popcnt"];
    Sse2 = 4, target_arch = "x86_64", ["sse2"];
    Neon = 5, all(target_arch = "aarch64", target_feature = "neon", target_endian = "little"), ["neon"];
    Simd128 = 6, all(target_arch = "wasm32", target_feature = "simd128"), ["simd128"];
}
