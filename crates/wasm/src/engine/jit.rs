//! wasmtime under the face of [`super`].

use wasmtime::{
    Caller, Config, Engine, Error, ExternType, Func, FuncType, Linker, Memory, MemoryType, Module, Store, StoreLimits,
    StoreLimitsBuilder, Val, ValType,
};

use super::link::{self, Import, Kind, NO_MEMORY, link, places};
use super::{
    Compiled, Export, Instance, MEMORY_BYTES_MAX, Number, NumberType, TABLE_ELEMENTS_MAX, check_call, pages_missing,
    type_text,
};
use crate::error::RunError;
use crate::host::{HostFault, Outside};

struct Translated {
    module: Module,
    exports: Vec<Export>,
    fuel: Option<u64>,
}

/// Store data of host functions.
struct State {
    outside: Outside,
    /// The memory, once it is known.
    memory: Option<Memory>,
    limits: StoreLimits,
}

struct Running {
    store: Store<State>,
    instance: wasmtime::Instance,
    exports: Vec<Export>,
    fuel: Option<u64>,
}

/// Compiles a module.
pub(super) fn compile(bytes: &[u8], fuel: Option<u64>) -> Result<Box<dyn Compiled>, RunError> {
    let mut config = Config::new();
    config.consume_fuel(fuel.is_some());
    let engine = Engine::new(&config).map_err(|error| RunError::Engine(format!("{error:#}")))?;
    let module = Module::from_binary(&engine, bytes).map_err(|error| RunError::Module(format!("{error:#}")))?;
    let function = |export: wasmtime::ExportType<'_>| match export.ty() {
        ExternType::Func(ty) => Some(Export {
            name: export.name().to_owned(),
            params: ty.params().map(|ty| number_type(&ty)).collect(),
            ty: text_of(&ty),
        }),
        _ => None,
    };
    let exports = module.exports().filter_map(function).collect();
    Ok(Box::new(Translated { module, exports, fuel }))
}

impl Compiled for Translated {
    fn exports(&self) -> Vec<Export> {
        self.exports.clone()
    }

    fn instantiate(&self, outside: Outside) -> Result<Box<dyn Instance>, RunError> {
        let limits = StoreLimitsBuilder::new().memory_size(MEMORY_BYTES_MAX).table_elements(TABLE_ELEMENTS_MAX).build();
        let mut store = Store::new(self.module.engine(), State { outside, memory: None, limits });
        store.limiter(|state| &mut state.limits);
        set_fuel(&mut store, self.fuel)?;
        let linker = linked(&self.module, &mut store)?;
        let instance = linker.instantiate(&mut store, &self.module).map_err(started)?;
        let exported = instance.exports(&mut store).find_map(|export| export.into_memory());
        if let Some(memory) = exported {
            store.data_mut().memory = Some(memory);
        }
        Ok(Box::new(Running { store, instance, exports: self.exports.clone(), fuel: self.fuel }))
    }
}

/// An error of instantiation: the start function trapped, or the module cannot be instantiated.
fn started(error: Error) -> RunError {
    if error.is::<wasmtime::Trap>() || error.is::<HostFault>() {
        RunError::Trap(reason(&error))
    } else {
        RunError::Module(reason(&error))
    }
}

/// Why execution ended, without the stack of calls.
fn reason(error: &Error) -> String {
    error.root_cause().to_string()
}

fn set_fuel(store: &mut Store<State>, fuel: Option<u64>) -> Result<(), RunError> {
    fuel.map_or(Ok(()), |fuel| store.set_fuel(fuel)).map_err(|error| RunError::Engine(format!("{error:#}")))
}

/// The engine's linker with the store that it links for.
struct Linking<'a> {
    linker: Linker<State>,
    store: &'a mut Store<State>,
}

impl link::Linker for Linking<'_> {
    type Function = FuncType;
    type Memory = MemoryType;

    fn function(&mut self, from: &str, name: &str, ty: FuncType, number: usize) -> Result<(), String> {
        let function = host(self.store, ty, number);
        self.linker.define(&mut *self.store, from, name, function).map(drop).map_err(|error| format!("{error:#}"))
    }

    fn memory(&mut self, from: &str, name: &str, ty: MemoryType) -> Result<(), String> {
        let memory = Memory::new(&mut *self.store, ty).map_err(|error| format!("{error:#}"))?;
        self.store.data_mut().memory = Some(memory);
        self.linker.define(&mut *self.store, from, name, memory).map(drop).map_err(|error| format!("{error:#}"))
    }
}

/// Defines the module's imports.
fn linked(module: &Module, store: &mut Store<State>) -> Result<Linker<State>, RunError> {
    let import = |import: wasmtime::ImportType<'_>| {
        let kind = match import.ty() {
            ExternType::Func(ty) => {
                let shape = (ty.params().len(), ty.results().len());
                let shape = all_i32(ty.params().chain(ty.results())).then_some(shape);
                Kind::Function { shape, text: text_of(&ty), ty }
            }
            ExternType::Memory(ty) => Kind::Memory(ty),
            other => Kind::Other(format!("{other:?}")),
        };
        Import { from: import.module().to_owned(), name: import.name().to_owned(), kind }
    };
    let mut linking = Linking { linker: Linker::new(module.engine()), store };
    link(&mut linking, module.imports().map(import))?;
    Ok(linking.linker)
}

fn all_i32(mut types: impl Iterator<Item = ValType>) -> bool {
    types.all(|ty| matches!(ty, ValType::I32))
}

/// The host function of a number as wasmtime calls it: the field operations, which modules call most, without packing.
fn host(store: &mut Store<State>, ty: FuncType, number: usize) -> Func {
    if ty.params().len() == 3 && ty.results().len() == 0 {
        return Func::wrap(store, move |mut caller: Caller<'_, State>, x: u32, y: u32, ret: u32| {
            call_host(&mut caller, number, [x, y, ret, 0]).map(|_| ())
        });
    }
    Func::new(store, ty, move |mut caller, params, results| {
        let given = call_host(&mut caller, number, places(params.iter().map(Val::i32)))?;
        if let Some(result) = results.first_mut() {
            *result = Val::I32(given.cast_signed());
        }
        Ok(())
    })
}

fn call_host(caller: &mut Caller<'_, State>, number: usize, at: [u32; 4]) -> Result<u32, Error> {
    let memory = match caller.data().memory {
        Some(memory) => memory,
        // The start function runs before the instance is known.
        None => {
            let memory = caller.get_export("memory").and_then(|export| export.into_memory());
            memory.ok_or_else(|| Error::msg(NO_MEMORY))?
        }
    };
    let (memory, state) = memory.data_and_store_mut(caller);
    Ok(state.outside.call(number, memory, at)?)
}

impl Instance for Running {
    fn call(&mut self, name: &str, arguments: &[Number]) -> Result<Vec<Number>, RunError> {
        let export = check_call(&self.exports, name, arguments)?;
        set_fuel(&mut self.store, self.fuel)?;
        let function = self.instance.get_func(&mut self.store, &export.name);
        let function = function.ok_or_else(|| RunError::Export { name: name.to_owned(), known: String::new() })?;
        let arguments: Vec<Val> = arguments.iter().map(|&number| to_val(number)).collect();
        let mut results = vec![Val::I32(0); function.ty(&self.store).results().len()];
        let called = function.call(&mut self.store, &arguments, &mut results);
        called.map_err(|error| RunError::Trap(reason(&error)))?;
        Ok(results.iter().filter_map(number).collect())
    }

    fn memory(&self) -> Result<&[u8], RunError> {
        let memory = self.store.data().memory.ok_or(RunError::NoMemory)?;
        Ok(memory.data(&self.store))
    }

    fn write(&mut self, address: u64, bytes: &[u8]) -> Result<(), RunError> {
        let memory = self.store.data().memory.ok_or(RunError::NoMemory)?;
        let there = memory.data_size(&self.store);
        let pages = pages_missing(there, address, bytes.len())?;
        let range = RunError::Range { address, size_bytes: bytes.len() as u64, memory_bytes: there as u64 };
        if pages > 0 && memory.grow(&mut self.store, pages).is_err() {
            return Err(range);
        }
        let start = usize::try_from(address).map_err(|_| range.clone())?;
        memory.write(&mut self.store, start, bytes).map_err(|_| range)
    }

    fn global(&mut self, name: &str) -> Option<i32> {
        let global = self.instance.get_global(&mut self.store, name)?;
        global.get(&mut self.store).i32()
    }

    fn outside(&self) -> &Outside {
        &self.store.data().outside
    }
}

fn number_type(ty: &ValType) -> Option<NumberType> {
    match ty {
        ValType::I32 => Some(NumberType::I32),
        ValType::I64 => Some(NumberType::I64),
        ValType::F32 => Some(NumberType::F32),
        ValType::F64 => Some(NumberType::F64),
        _ => None,
    }
}

fn text_of(ty: &FuncType) -> String {
    let texts = |types: Vec<ValType>| types.iter().map(ToString::to_string).collect::<Vec<_>>();
    type_text(&texts(ty.params().collect()), &texts(ty.results().collect()))
}

fn to_val(number: Number) -> Val {
    match number {
        Number::I32(value) => Val::I32(value),
        Number::I64(value) => Val::I64(value),
        Number::F32(value) => Val::F32(value.to_bits()),
        Number::F64(value) => Val::F64(value.to_bits()),
    }
}

/// A result; one that is no number is left out.
fn number(value: &Val) -> Option<Number> {
    match value {
        Val::I32(value) => Some(Number::I32(*value)),
        Val::I64(value) => Some(Number::I64(*value)),
        Val::F32(bits) => Some(Number::F32(f32::from_bits(*bits))),
        Val::F64(bits) => Some(Number::F64(f64::from_bits(*bits))),
        _ => None,
    }
}
