//! The functions of a contract in a Solidity library and in an ABI.

use residue_contracts::Function;
use residue_contracts::functions::{Argument, Returned};
use serde_json::{Value, json};

/// The ABI: the functions that a selector names, and the fallback that takes all calldata.
pub fn abi(functions: &[Function]) -> Value {
    let named = functions.iter().filter(|function| function.has_selector).map(|function| {
        json!({
            "type": "function",
            "name": function.name,
            "inputs": function.arguments.iter().map(input).collect::<Vec<_>>(),
            "outputs": [output(&function.result)],
            "stateMutability": "view",
        })
    });
    let fallback = json!({ "type": "fallback", "stateMutability": "nonpayable" });
    named.chain([fallback]).collect()
}

/// A function as an artifact and the catalogue describe it: signature, arguments and the calldata that they become.
pub fn described(function: &Function) -> Value {
    let calldata = if function.has_selector { "selector, then abi.encode" } else { packing(&function.arguments).0 };
    let inputs = function.arguments.iter().map(|argument| {
        let mut value = input(argument);
        if let Some(bytes) = argument.bytes {
            value["bytes"] = bytes.into();
        }
        if argument.has_length {
            value["lengthFirst"] = true.into();
        }
        value
    });
    json!({
        "signature": function.signature(),
        "inputs": inputs.collect::<Vec<_>>(),
        "outputs": [output(&function.result)],
        "calldata": calldata,
    })
}

fn input(argument: &Argument) -> Value {
    json!({ "name": argument.name, "type": argument.kind, "internalType": argument.kind })
}

fn output(result: &Returned) -> Value {
    json!({ "name": "", "type": result.to_string(), "internalType": result.to_string() })
}

/// Its declaration in the interface, if a selector names it.
pub fn in_interface(function: &Function) -> String {
    if !function.has_selector {
        return String::new();
    }
    let (name, arguments) = (&function.name, arguments(function, "calldata"));
    format!("    function {name}({arguments}) external view returns ({});\n", result(&function.result))
}

/// The errors that its functions in a library end with, beside those of every library.
pub fn errors(functions: &[Function]) -> &'static str {
    let has_fixed = |argument: &Argument| argument.bytes.is_some() || argument.has_length;
    match functions.iter().flat_map(|function| &function.arguments).any(has_fixed) {
        true => {
            "    /// An argument has another number of bytes than it may have.\n    error WrongLength(uint256 found, uint256 expected);\n"
        }
        false => "",
    }
}

/// A function of the library that calls the contract at an account.
pub fn calling(function: &Function, contract: &str) -> String {
    let Function { name, arguments: given, result: returned, has_selector } = function;
    let lengths: String = given.iter().filter_map(length).collect();
    let passed: Vec<&str> = given.iter().map(|argument| &*argument.name).collect();
    let calldata = match has_selector {
        true => format!("abi.encodeCall(I{contract}.{name}, ({}))", passed.join(", ")),
        false => packing(given).1,
    };
    let (arguments, result, decoded) = (arguments(function, "memory"), result(returned), decoded(returned));
    format!(
        "
    /// {}
    function {name}(address account, {arguments}) internal view returns ({result}) {{
{lengths}        bytes memory output = call(account, {calldata});
{decoded}    }}
",
        about(returned)
    )
}

/// The same at the address that is known.
pub fn calling_known(function: &Function) -> String {
    let passed: String = function.arguments.iter().map(|argument| format!(", {}", argument.name)).collect();
    let (name, arguments) = (&function.name, arguments(function, "memory"));
    let result = result(&function.result);
    format!(
        "
    /// The same of the contract at ADDRESS.
    function {name}({arguments}) internal view returns ({result}) {{
        return {name}(ADDRESS{passed});
    }}
"
    )
}

fn about(result: &Returned) -> &'static str {
    match result {
        Returned::Truth => "True if the contract answers 1, and false for any other answer, nothing among them.",
        Returned::Address => "The address that the contract answers, and 0 if it answers nothing.",
        Returned::Words(..) | Returned::Bytes => {
            "The answer of the contract to these arguments; reverts with Failed if it refuses them."
        }
    }
}

/// `type place name` for each argument.
fn arguments(function: &Function, place: &str) -> String {
    let declared = function.arguments.iter().map(|argument| {
        let place = if argument.is_in_memory() { format!(" {place}") } else { String::new() };
        format!("{}{place} {}", argument.kind, argument.name)
    });
    declared.collect::<Vec<_>>().join(", ")
}

fn result(result: &Returned) -> String {
    let is_in_memory = match result {
        Returned::Truth | Returned::Address => false,
        Returned::Words(kind, _) => kind.ends_with(']'),
        Returned::Bytes => true,
    };
    if is_in_memory { format!("{result} memory") } else { result.to_string() }
}

/// The check of an argument's length, if it may not have any.
fn length(argument: &Argument) -> Option<String> {
    let (name, indent) = (&argument.name, "        ");
    let (test, expected) = match (argument.bytes, argument.has_length) {
        (Some(bytes), _) => (format!("{name}.length != {bytes}"), bytes),
        (None, true) => (format!("{name}.length > 65535"), 65535),
        (None, false) => return None,
    };
    Some(format!("{indent}if ({test}) revert WrongLength({name}.length, {expected});\n"))
}

/// The making of calldata from arguments: in words, and as an expression of Solidity's. All of whole words they are what `abi.encode` makes,
/// which takes arrays of arrays too.
fn packing(arguments: &[Argument]) -> (&'static str, String) {
    let is_whole = |argument: &Argument| {
        let base = argument.kind.split('[').next().unwrap_or_default();
        matches!(base, "uint256" | "bytes32") && !argument.kind.ends_with("[]")
    };
    let passed = arguments.iter().map(|argument| match argument.has_length {
        true => format!("uint16({0}.length), {0}", argument.name),
        false => argument.name.clone(),
    });
    let passed = passed.collect::<Vec<_>>().join(", ");
    match arguments {
        [one] if one.kind == "bytes" => ("the bytes", passed),
        _ if arguments.iter().all(is_whole) => ("abi.encode", format!("abi.encode({passed})")),
        _ => ("abi.encodePacked", format!("abi.encodePacked({passed})")),
    }
}

/// The end of a function: its result from `output`.
fn decoded(result: &Returned) -> String {
    match result {
        Returned::Truth => "        return output.length == 32 && abi.decode(output, (uint256)) == 1;\n".to_owned(),
        Returned::Address => {
            "        return output.length == 32 ? abi.decode(output, (address)) : address(0);\n".to_owned()
        }
        Returned::Bytes => "        return output;\n".to_owned(),
        Returned::Words(kind, words) => format!(
            "        if (output.length != {}) revert Failed(output);\n        return abi.decode(output, ({kind}));\n",
            32 * words
        ),
    }
}
