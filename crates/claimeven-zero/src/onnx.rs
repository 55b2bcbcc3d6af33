//! Export of a network to ONNX, the exchange format of other frameworks.
//!
//! The file is a protocol buffer. The few messages that a network needs are written by hand, with
//! the field numbers of `onnx.proto`.

use crate::architecture::{Architecture, ValueHead};
use crate::inference::EPSILON;
use crate::network::Network;

impl Network {
    /// The network as an ONNX model (opset 17), with batch normalisation folded into its weights.
    ///
    /// Its input `planes` has shape `[n, planes, rows, cols]`, the bottom row first, as
    /// [`InputEncoding::encode`](crate::InputEncoding::encode) writes them. Its outputs are
    /// `policy`, the logits of the columns, and `wdl`, the probabilities of a win, a draw and a
    /// loss; or `value`, from -1 to 1, for networks with [`ValueHead::Tanh`].
    #[must_use]
    pub fn to_onnx(&self) -> Vec<u8> {
        let mut graph = Graph::new(self);
        graph.build();
        let Architecture { cols, rows, encoding, value, .. } = *self.architecture();
        let (cols, rows) = (u64::from(cols), u64::from(rows));
        let mut message = graph.message;
        message.text(2, "claimeven");
        message.message(11, &tensor_type("planes", &[encoding.planes() as u64, rows, cols]));
        message.message(12, &tensor_type("policy", &[cols]));
        let (name, outputs) = match value {
            ValueHead::Wdl => ("wdl", 3),
            ValueHead::Tanh => ("value", 1),
        };
        message.message(12, &tensor_type(name, &[outputs]));

        let mut operators = Message::default();
        operators.text(1, "");
        operators.number(2, 17);
        let mut model = Message::default();
        model.number(1, 8); // The version of the format that belongs to opset 17.
        model.text(2, "claimeven");
        model.message(7, &message);
        model.message(8, &operators);
        model.0
    }
}

/// The nodes and weights of the graph under construction.
struct Graph<'a> {
    network: &'a Network,
    message: Message,
}

impl<'a> Graph<'a> {
    fn new(network: &'a Network) -> Graph<'a> {
        Graph { network, message: Message::default() }
    }

    fn build(&mut self) {
        let Architecture { blocks, .. } = *self.network.architecture();
        // 1. The stem.
        self.convolution("stem", "planes", "stem.sum", 3);
        self.node("Relu", &["stem.sum"], "tower0", &[]);

        // 2. The residual tower.
        for block in 0..blocks {
            let (input, output) = (format!("tower{block}"), format!("tower{}", block + 1));
            let [first, second] = ["first", "second"].map(|part| format!("block{block}.{part}"));
            let name = |part: &str| format!("block{block}.{part}");
            self.convolution(&first, &input, &name("first.sum"), 3);
            self.node("Relu", &[&name("first.sum")], &name("first.out"), &[]);
            self.convolution(&second, &name("first.out"), &name("second.sum"), 3);
            self.node("Add", &[&input, &name("second.sum")], &name("sum"), &[]);
            self.node("Relu", &[&name("sum")], &output, &[]);
        }
        let tower = format!("tower{blocks}");

        // 3. The policy head.
        self.head("policy", &tower);
        self.dense("policy.columns", "policy.flat", "policy");

        // 4. The value head.
        self.head("value", &tower);
        self.dense("value.hidden", "value.flat", "value.hidden.sum");
        self.node("Relu", &["value.hidden.sum"], "value.hidden.out", &[]);
        self.dense("value.result", "value.hidden.out", "value.logits");
        match self.network.architecture().value {
            ValueHead::Wdl => {
                self.node("Softmax", &["value.logits"], "wdl", &[Attribute::Int("axis", 1)]);
            }
            ValueHead::Tanh => self.node("Tanh", &["value.logits"], "value", &[]),
        }
    }

    /// A 1x1 convolution, flattened cell by cell: the order of the dense layers' weights.
    fn head(&mut self, name: &str, tower: &str) {
        let part = |part: &str| format!("{name}.{part}");
        self.convolution(name, tower, &part("sum"), 1);
        self.node("Relu", &[&part("sum")], &part("conv.out"), &[]);
        let order = [Attribute::Ints("perm", &[0, 2, 3, 1])];
        self.node("Transpose", &[&part("conv.out")], &part("cells"), &order);
        self.node("Flatten", &[&part("cells")], &part("flat"), &[Attribute::Int("axis", 1)]);
    }

    /// A convolution with its batch normalisation folded into weights and bias.
    fn convolution(&mut self, name: &str, input: &str, output: &str, side: u64) {
        let network = self.network;
        let part = |part: &str| network.tensor(&format!("{name}.{part}"));
        let (weights, gain, mean, variance) =
            (part("conv"), part("gain"), part("mean"), part("variance"));
        let scale: Vec<f32> =
            gain.iter().zip(variance).map(|(gain, var)| gain / (var + EPSILON).sqrt()).collect();
        let outputs = scale.len();
        let per_output = weights.len() / outputs;
        let folded: Vec<f32> =
            weights.iter().enumerate().map(|(i, weight)| weight * scale[i / per_output]).collect();
        let bias: Vec<f32> =
            part("bias").iter().zip(mean).zip(&scale).map(|((b, m), s)| b - m * s).collect();
        let inputs = per_output as u64 / (side * side);
        let (weight_name, bias_name) = (format!("{name}.weight"), format!("{name}.bias"));
        self.weights(&weight_name, &[outputs as u64, inputs, side, side], &folded);
        self.weights(&bias_name, &[outputs as u64], &bias);
        let margin = side / 2;
        let attributes =
            [Attribute::Ints("kernel_shape", &[side; 2]), Attribute::Ints("pads", &[margin; 4])];
        self.node("Conv", &[input, &weight_name, &bias_name], output, &attributes);
    }

    fn dense(&mut self, name: &str, input: &str, output: &str) {
        let network = self.network;
        let (weight_name, bias_name) = (format!("{name}.weight"), format!("{name}.bias"));
        let (weights, bias) = (network.tensor(&weight_name), network.tensor(&bias_name));
        let outputs = bias.len() as u64;
        self.weights(&weight_name, &[outputs, weights.len() as u64 / outputs], weights);
        self.weights(&bias_name, &[outputs], bias);
        self.node(
            "Gemm",
            &[input, &weight_name, &bias_name],
            output,
            &[Attribute::Int("transB", 1)],
        );
    }

    fn node(
        &mut self,
        operator: &str,
        inputs: &[&str],
        output: &str,
        attributes: &[Attribute<'_>],
    ) {
        let mut node = Message::default();
        for input in inputs {
            node.text(1, input);
        }
        node.text(2, output);
        node.text(3, output);
        node.text(4, operator);
        for attribute in attributes {
            node.message(5, &attribute.message());
        }
        self.message.message(1, &node);
    }

    fn weights(&mut self, name: &str, shape: &[u64], numbers: &[f32]) {
        let mut tensor = Message::default();
        for &size in shape {
            tensor.number(1, size);
        }
        tensor.number(2, FLOAT);
        tensor.text(8, name);
        let data: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
        tensor.bytes(9, &data);
        self.message.message(5, &tensor);
    }
}

/// The number of the data type `float`.
const FLOAT: u64 = 1;

/// A named tensor with a batch dimension and the given sizes.
fn tensor_type(name: &str, sizes: &[u64]) -> Message {
    let mut shape = Message::default();
    let mut batch = Message::default();
    batch.text(2, "n");
    shape.message(1, &batch);
    for &size in sizes {
        let mut dimension = Message::default();
        dimension.number(1, size);
        shape.message(1, &dimension);
    }
    let mut tensor = Message::default();
    tensor.number(1, FLOAT);
    tensor.message(2, &shape);
    let mut kind = Message::default();
    kind.message(1, &tensor);
    let mut value = Message::default();
    value.text(1, name);
    value.message(2, &kind);
    value
}

/// An attribute of a node.
enum Attribute<'a> {
    Int(&'a str, u64),
    Ints(&'a str, &'a [u64]),
}

impl Attribute<'_> {
    fn message(&self) -> Message {
        let mut message = Message::default();
        match *self {
            Attribute::Int(name, number) => {
                message.text(1, name);
                message.number(3, number);
                message.number(20, 2);
            }
            Attribute::Ints(name, numbers) => {
                message.text(1, name);
                for &number in numbers {
                    message.number(8, number);
                }
                message.number(20, 7);
            }
        }
        message
    }
}

/// A protocol buffer message under construction.
#[derive(Default)]
struct Message(Vec<u8>);

impl Message {
    /// Unsigned integers take seven bits per byte, the lowest first.
    fn varint(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.0.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.0.push(number as u8);
    }

    fn number(&mut self, field: u64, number: u64) {
        self.varint(field << 3);
        self.varint(number);
    }

    fn bytes(&mut self, field: u64, bytes: &[u8]) {
        self.varint(field << 3 | 2);
        self.varint(bytes.len() as u64);
        self.0.extend(bytes);
    }

    fn text(&mut self, field: u64, text: &str) {
        self.bytes(field, text.as_bytes());
    }

    fn message(&mut self, field: u64, message: &Message) {
        self.bytes(field, &message.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_texts_are_encoded_as_protocol_buffers() {
        let mut message = Message::default();
        message.number(1, 150);
        message.text(2, "testing");
        // The examples in the documentation of the format.
        assert_eq!(message.0, b"\x08\x96\x01\x12\x07testing");
    }
}
