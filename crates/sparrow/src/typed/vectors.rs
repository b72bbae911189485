//! Dense vectors of a type that the compiler knows.

use std::marker::PhantomData;
use std::ops::Deref;

use cl_runtime::{DeviceArray, Event, Queue, Wait};
use csr_core::Accumulator;

use super::Coefficient;
use crate::{AnyVectors, Combination, Reduction, Result, VectorOptions};

/// Operations on dense vectors of `T` (f32 or f64), each one launch.
///
/// A result may be an operand: pass a [`slice`](DeviceArray::slice) of all of it as the operand. What
/// else holds of vectors and launches, [`AnyVectors`] says.
#[derive(Debug)]
pub struct Vectors<T> {
    any: AnyVectors,
    element: PhantomData<fn() -> T>,
}

impl<T> Deref for Vectors<T> {
    type Target = AnyVectors;

    fn deref(&self) -> &AnyVectors {
        &self.any
    }
}

impl<T: Accumulator> Vectors<T> {
    /// Kernels and working memory in the queue's context, as [`AnyVectors::new_blocking`].
    ///
    /// # Errors
    /// As there.
    pub fn new_blocking(queue: &Queue, options: &VectorOptions) -> Result<Self> {
        let any = AnyVectors::new_blocking(queue, T::TYPE, options)?;
        Ok(Vectors { any, element: PhantomData })
    }

    /// Enqueues r = alpha x, as [`AnyVectors::scale`].
    ///
    /// # Errors
    /// As there.
    pub fn scale<W: Wait>(
        &mut self,
        queue: &Queue,
        (alpha, x): (Coefficient<'_, T>, &DeviceArray<T>),
        r: &mut DeviceArray<T>,
        wait: W,
    ) -> Result<W::Event> {
        self.any.scale(queue, (alpha.into(), x), r.as_any_mut(), wait)
    }

    /// Enqueues r = alpha x + y, rounded once, as [`AnyVectors::axpy`].
    ///
    /// # Errors
    /// As there.
    pub fn axpy<W: Wait>(
        &mut self,
        queue: &Queue,
        (alpha, x): (Coefficient<'_, T>, &DeviceArray<T>),
        y: &DeviceArray<T>,
        r: &mut DeviceArray<T>,
        wait: W,
    ) -> Result<W::Event> {
        self.any.axpy(queue, (alpha.into(), x), y, r.as_any_mut(), wait)
    }

    /// Enqueues r = alpha x + beta y, as [`AnyVectors::axpby`]; with beta = 0, y is never read.
    ///
    /// # Errors
    /// As there.
    pub fn axpby<W: Wait>(
        &mut self,
        queue: &Queue,
        (alpha, x): (Coefficient<'_, T>, &DeviceArray<T>),
        (beta, y): (Coefficient<'_, T>, &DeviceArray<T>),
        r: &mut DeviceArray<T>,
        wait: W,
    ) -> Result<W::Event> {
        self.any.axpby(queue, (alpha.into(), x), (beta.into(), y), r.as_any_mut(), wait)
    }

    /// Enqueues r = alpha x + beta y + gamma r, as [`AnyVectors::update`]; a vector whose factor is 0 is never read, but
    /// for x.
    ///
    /// # Errors
    /// As there.
    pub fn update<W: Wait>(
        &mut self,
        queue: &Queue,
        (alpha, x): (Coefficient<'_, T>, &DeviceArray<T>),
        (beta, y): (Coefficient<'_, T>, &DeviceArray<T>),
        (gamma, r): (Coefficient<'_, T>, &mut DeviceArray<T>),
        wait: W,
    ) -> Result<W::Event> {
        let of_r = (gamma.into(), r.as_any_mut());
        self.any.update(queue, (alpha.into(), x), (beta.into(), y), of_r, wait)
    }

    /// Enqueues r = alpha x y + beta r, as [`AnyVectors::multiply_add`]; with beta = 0, r is never read.
    ///
    /// # Errors
    /// As there.
    pub fn multiply_add<W: Wait>(
        &mut self,
        queue: &Queue,
        (alpha, x, y): (Coefficient<'_, T>, &DeviceArray<T>, &DeviceArray<T>),
        (beta, r): (Coefficient<'_, T>, &mut DeviceArray<T>),
        wait: W,
    ) -> Result<W::Event> {
        let of_r = (beta.into(), r.as_any_mut());
        self.any.multiply_add(queue, (alpha.into(), x, y), of_r, wait)
    }

    /// Enqueues r = x + y, x - y, x y or x / y, as [`AnyVectors::combine`].
    ///
    /// # Errors
    /// As there.
    pub fn combine<W: Wait>(
        &mut self,
        queue: &Queue,
        combination: Combination,
        (x, y): (&DeviceArray<T>, &DeviceArray<T>),
        r: &mut DeviceArray<T>,
        wait: W,
    ) -> Result<W::Event> {
        self.any.combine(queue, combination, (x, y), r.as_any_mut(), wait)
    }

    /// Enqueues a reduction of x to the first element of `result`, as [`AnyVectors::reduce`].
    ///
    /// # Errors
    /// As there.
    pub fn reduce<W: Wait>(
        &mut self,
        queue: &Queue,
        reduction: Reduction,
        x: &DeviceArray<T>,
        result: &mut DeviceArray<T>,
        wait: W,
    ) -> Result<W::Event> {
        self.any.reduce(queue, reduction, x, result.as_any_mut(), wait)
    }

    /// Enqueues the sum of x_i y_i to the first element of `result`, as [`AnyVectors::dot`].
    ///
    /// # Errors
    /// As there.
    pub fn dot<W: Wait>(
        &mut self,
        queue: &Queue,
        x: &DeviceArray<T>,
        y: &DeviceArray<T>,
        result: &mut DeviceArray<T>,
        wait: W,
    ) -> Result<W::Event> {
        self.any.dot(queue, x, y, result.as_any_mut(), wait)
    }

    /// Enqueues the sum of 32-bit integers, modulo 2^32, as [`AnyVectors::sum_integers`].
    ///
    /// # Errors
    /// As there.
    pub fn sum_integers<W: Wait>(
        &mut self,
        queue: &Queue,
        x: &DeviceArray<i32>,
        result: &mut DeviceArray<i32>,
        wait: W,
    ) -> Result<W::Event> {
        self.any.sum_integers(queue, x, result, wait)
    }

    /// As [`Vectors::reduce`], and reads the result.
    ///
    /// # Errors
    /// As there; or a launch that ended in error.
    pub fn reduce_blocking(
        &mut self,
        queue: &Queue,
        reduction: Reduction,
        x: &DeviceArray<T>,
        wait: &[Event],
    ) -> Result<T> {
        let number = self.any.reduce_blocking(queue, reduction, x, wait)?;
        Ok(T::from_f64(number.to_f64()))
    }

    /// As [`Vectors::dot`], and reads the result.
    ///
    /// # Errors
    /// As there; or a launch that ended in error.
    pub fn dot_blocking(
        &mut self,
        queue: &Queue,
        x: &DeviceArray<T>,
        y: &DeviceArray<T>,
        wait: &[Event],
    ) -> Result<T> {
        let number = self.any.dot_blocking(queue, x, y, wait)?;
        Ok(T::from_f64(number.to_f64()))
    }

    /// As [`Vectors::sum_integers`], and reads the result.
    ///
    /// # Errors
    /// As there; or a launch that ended in error.
    pub fn sum_integers_blocking(
        &mut self,
        queue: &Queue,
        x: &DeviceArray<i32>,
        wait: &[Event],
    ) -> Result<i32> {
        self.any.sum_integers_blocking(queue, x, wait)
    }
}
