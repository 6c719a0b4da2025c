// SPDX-License-Identifier: MIT
//! Quantiles and p-values of Student's t and of the normal distribution.

use statrs::distribution::{ContinuousCDF, Normal, StudentsT};
use statrs::function::beta::beta_reg;

/// The `q` quantile of Student's t, which is normal with infinitely many degrees of freedom.
pub(crate) fn t_quantile(q: f64, freedom: f64) -> Option<f64> {
    if freedom == f64::INFINITY {
        return Some(normal_quantile(q));
    }
    Some(StudentsT::new(0.0, 1.0, freedom).ok()?.inverse_cdf(q))
}

/// The `q` quantile of the standard normal distribution.
pub(crate) fn normal_quantile(q: f64) -> f64 {
    Normal::standard().inverse_cdf(q)
}

/// The two-sided p-value of a normal statistic.
pub(crate) fn normal_two_sided(z: f64) -> f64 {
    statrs::function::erf::erfc(z.abs() / std::f64::consts::SQRT_2)
}

/// The two-sided p-value of a t statistic, accurate far into the tail.
pub(crate) fn t_two_sided(t: f64, freedom: f64) -> f64 {
    if t.is_infinite() {
        return 0.0;
    }
    if freedom == f64::INFINITY {
        return normal_two_sided(t);
    }
    beta_reg(freedom / 2.0, 0.5, freedom / (freedom + t * t))
}

#[cfg(test)]
mod tests {
    use super::*;

    // Expected values: scipy 1.17.1, `scipy.stats.t.ppf`, `norm.ppf`, `2 * t.sf`.
    #[test]
    fn quantiles_and_p_values_equal_those_of_scipy() {
        let close = |a: f64, b: f64| assert!((a / b - 1.0).abs() < 1e-7, "{a} {b}");
        close(t_quantile(0.975, 1.0).unwrap(), 12.706_204_736_174_694);
        close(t_quantile(0.975, 9.0).unwrap(), 2.262_157_162_798_205);
        close(t_quantile(0.975, 59_999.0).unwrap(), 1.960_003_523_836_932_7);
        close(normal_quantile(0.975), 1.959_963_984_540_054);
        close(t_two_sided(2.0, 10.0), 0.073_388_034_770_740_35);
        close(t_two_sided(40.0, 100.0), 2.462_107_602_140_071e-63);
        assert_eq!(t_two_sided(f64::INFINITY, 5.0), 0.0);
    }
}
