//! Activation functions: ReLU with its gradient, and softmax.

use std::array;

use crate::lanes::{Lanes, vectorised};

vectorised! {
    /// Sets negative numbers to 0.
    pub(crate) fn relu(data: &mut [Lanes]) {
        for lanes in data {
            *lanes = lanes.map(|number| number.max(0.0));
        }
    }
}

vectorised! {
    /// Backpropagation through [`relu`]: no gradient passes where its output is 0.
    pub(crate) fn relu_backward(gradient: &mut [Lanes], output: &[Lanes]) {
        for (lanes, output) in gradient.iter_mut().zip(output) {
            // The compiler vectorises this only if every number is written.
            let old = *lanes;
            *lanes = array::from_fn(|lane| if output[lane] > 0.0 { old[lane] } else { 0.0 });
        }
    }
}

/// Turns logits into probabilities; a logit of minus infinity has probability 0.
pub(crate) fn softmax(logits: &mut [f32]) {
    let max = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let mut sum = 0.0;
    for logit in &mut *logits {
        *logit = (*logit - max).exp();
        sum += *logit;
    }
    for probability in logits {
        *probability /= sum;
    }
}
