//! The tests of the codec: every operation on every tier against the oracle.
//!
//! The tests of kernels iterate over the tiers of this CPU, so they cover a new tier without a change. These environment variables
//! control them:
//!
//! * `SIMDPCT_REQUIRE_TIERS=avx2,ssse3`: fail if one of these tiers is missing;
//! * `SIMDPCT_TEST_TIERS=avx512`: test these tiers only;
//! * `SIMDPCT_TEST_SCALE=5`: run that percentage of the long loops (for emulated CPUs);
//! * `SIMDPCT_EXHAUSTIVE=1`: also run the loops that take minutes.

mod batch;
mod chosen;
mod exhaustive;
mod header;
mod lanes;
mod matrix;
mod rivals;
mod sets;
mod stable;
mod streams;
mod text;
mod tiers;
mod verbs;
