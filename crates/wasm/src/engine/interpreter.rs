//! wasmi under the face of [`super`].

use wasmi::{
    Caller, CompilationMode, Config, Engine, Error, ExternType, Func, FuncType, Linker, Memory, MemoryType, Module,
    Store, StoreLimits, StoreLimitsBuilder, Val, ValType,
};

use super::link::{self, Import, Kind, NO_MEMORY, link, places};
use super::{
    Compiled, Export, Instance, MEMORY_BYTES_MAX, Number, NumberType, TABLE_ELEMENTS_MAX, check_call, pages_missing,
    type_text,
};
use crate::error::RunError;
use crate::host::Outside;

struct Interpreted {
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
    instance: wasmi::Instance,
    exports: Vec<Export>,
    fuel: Option<u64>,
}

/// Compiles a module.
pub(super) fn compile(bytes: &[u8], fuel: Option<u64>) -> Result<Box<dyn Compiled>, RunError> {
    let mut config = Config::default();
    config.consume_fuel(fuel.is_some()).compilation_mode(CompilationMode::Eager);
    let module = Module::new(&Engine::new(&config), bytes).map_err(|error| RunError::Module(error.to_string()))?;
    let function = |export: wasmi::ExportType<'_>| match export.ty() {
        ExternType::Func(ty) => Some(Export {
            name: export.name().to_owned(),
            params: ty.params().iter().map(number_type).collect(),
            ty: text_of(ty),
        }),
        _ => None,
    };
    let exports = module.exports().filter_map(function).collect();
    Ok(Box::new(Interpreted { module, exports, fuel }))
}

impl Compiled for Interpreted {
    fn exports(&self) -> Vec<Export> {
        self.exports.clone()
    }

    fn instantiate(&self, outside: Outside) -> Result<Box<dyn Instance>, RunError> {
        let engine = self.module.engine();
        let limits = StoreLimitsBuilder::new().memory_size(MEMORY_BYTES_MAX).table_elements(TABLE_ELEMENTS_MAX).build();
        let mut store = Store::new(engine, State { outside, memory: None, limits });
        store.limiter(|state| &mut state.limits);
        set_fuel(&mut store, self.fuel)?;
        let linker = linked(&self.module, &mut store)?;
        let instance = linker.instantiate_and_start(&mut store, &self.module).map_err(started)?;
        let exported = instance.exports(&store).find_map(|export| export.into_memory());
        if let Some(memory) = exported {
            store.data_mut().memory = Some(memory);
        }
        Ok(Box::new(Running { store, instance, exports: self.exports.clone(), fuel: self.fuel }))
    }
}

/// An error of instantiation: the start function trapped, or the module cannot be instantiated.
fn started(error: Error) -> RunError {
    if error.as_trap_code().is_some() || error.downcast_ref::<Fault>().is_some() {
        RunError::Trap(error.to_string())
    } else {
        RunError::Module(error.to_string())
    }
}

fn set_fuel(store: &mut Store<State>, fuel: Option<u64>) -> Result<(), RunError> {
    fuel.map_or(Ok(()), |fuel| store.set_fuel(fuel)).map_err(|error| RunError::Engine(error.to_string()))
}

/// A fault of a host function as wasmi carries it.
#[derive(Debug)]
struct Fault(String);

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl wasmi::errors::HostError for Fault {}

/// The engine's linker with the store that it links for.
struct Linking<'a> {
    linker: Linker<State>,
    store: &'a mut Store<State>,
}

impl link::Linker for Linking<'_> {
    type Function = FuncType;
    type Memory = MemoryType;

    fn function(&mut self, from: &str, name: &str, ty: FuncType, number: usize) -> Result<(), String> {
        let function = host(self.store, &ty, number);
        self.linker.define(from, name, function).map(drop).map_err(|error| error.to_string())
    }

    fn memory(&mut self, from: &str, name: &str, ty: MemoryType) -> Result<(), String> {
        let memory = Memory::new(&mut *self.store, ty).map_err(|error| error.to_string())?;
        self.store.data_mut().memory = Some(memory);
        self.linker.define(from, name, memory).map(drop).map_err(|error| error.to_string())
    }
}

/// Defines the module's imports.
fn linked(module: &Module, store: &mut Store<State>) -> Result<Linker<State>, RunError> {
    let import = |import: wasmi::ImportType<'_>| {
        let kind = match import.ty() {
            ExternType::Func(ty) => Kind::Function {
                ty: ty.clone(),
                shape: all_i32(ty.params().iter().chain(ty.results()))
                    .then_some((ty.params().len(), ty.results().len())),
                text: text_of(ty),
            },
            ExternType::Memory(ty) => Kind::Memory(*ty),
            other => Kind::Other(format!("{other:?}")),
        };
        Import { from: import.module().to_owned(), name: import.name().to_owned(), kind }
    };
    let mut linking = Linking { linker: Linker::new(module.engine()), store };
    link(&mut linking, module.imports().map(import))?;
    Ok(linking.linker)
}

fn all_i32<'a>(mut types: impl Iterator<Item = &'a ValType>) -> bool {
    types.all(|ty| *ty == ValType::I32)
}

/// The host function of a number as wasmi calls it: the field operations, which modules call most, without packing.
fn host(store: &mut Store<State>, ty: &FuncType, number: usize) -> Func {
    if ty.params().len() == 3 && ty.results().is_empty() {
        return Func::wrap(store, move |mut caller: Caller<'_, State>, x: u32, y: u32, ret: u32| {
            call_host(&mut caller, number, [x, y, ret, 0]).map(|_| ())
        });
    }
    Func::new(store, ty.clone(), move |mut caller, params, results| {
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
            memory.ok_or_else(|| Error::host(Fault(NO_MEMORY.to_owned())))?
        }
    };
    let (memory, state) = memory.data_and_store_mut(caller);
    state.outside.call(number, memory, at).map_err(|fault| Error::host(Fault(fault.to_string())))
}

impl Instance for Running {
    fn call(&mut self, name: &str, arguments: &[Number]) -> Result<Vec<Number>, RunError> {
        let export = check_call(&self.exports, name, arguments)?;
        set_fuel(&mut self.store, self.fuel)?;
        let function = self.instance.get_func(&self.store, &export.name);
        let function = function.ok_or_else(|| RunError::Export { name: name.to_owned(), known: String::new() })?;
        let arguments: Vec<Val> = arguments.iter().map(|&number| to_val(number)).collect();
        let ty = function.ty(&self.store);
        let mut results: Vec<Val> = ty.results().iter().map(|&ty| Val::default_for_ty(ty)).collect();
        let called = function.call(&mut self.store, &arguments, &mut results);
        called.map_err(|error| RunError::Trap(error.to_string()))?;
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
        self.instance.get_global(&self.store, name).and_then(|global| global.get(&self.store).i32())
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
    let texts = |types: &[ValType]| types.iter().map(|ty| format!("{ty:?}").to_lowercase()).collect::<Vec<_>>();
    type_text(&texts(ty.params()), &texts(ty.results()))
}

fn to_val(number: Number) -> Val {
    match number {
        Number::I32(value) => Val::I32(value),
        Number::I64(value) => Val::I64(value),
        Number::F32(value) => Val::F32(value.into()),
        Number::F64(value) => Val::F64(value.into()),
    }
}

/// A result; one that is no number is left out.
fn number(value: &Val) -> Option<Number> {
    match value {
        Val::I32(value) => Some(Number::I32(*value)),
        Val::I64(value) => Some(Number::I64(*value)),
        Val::F32(value) => Some(Number::F32(f32::from(*value))),
        Val::F64(value) => Some(Number::F64(f64::from(*value))),
        _ => None,
    }
}
