//! Writes an entry into a device-table file, and leaves everything else in it as it was.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use cl_kernels::{Algorithm, DeviceEntry, DeviceTable, TableError, current_name};
use csr_core::io::{Destination, OutputFile};
use toml_edit::{ArrayOfTables, DocumentMut, Item, Key, Table, TableLike};

/// Puts an entry that was tuned into a file: over what that has of the same device and value types, else at its end.
/// Other entries, other facts of this one, and comments stay where they are.
///
/// The file is written under a lock (`FILE.lock` in its folder) and as an [`OutputFile`]: two that write at once wait
/// for each other, a reader meanwhile reads the whole of one, and links and permissions stay. A pipe or a device
/// gets a table of this entry alone.
///
/// # Errors
/// A folder or a file that cannot be written, or a file that is no device table: it is not touched then.
pub fn write_entry(path: &Path, entry: &DeviceEntry) -> Result<(), TableError> {
    let refuse =
        |what: &str, error: &dyn std::fmt::Display| failed(path, format!("{what}: {error}"));
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    fs::create_dir_all(folder).map_err(|error| refuse("its folder cannot be made", &error))?;
    let unwritten = |error| refuse("it cannot be written", &error);
    let destination = Destination::of(path).map_err(unwritten)?;
    if !destination.is_regular().map_err(unwritten)? {
        let table = with_entry("", entry).map_err(|message| failed(path, message))?;
        return write(&destination, &table).map_err(unwritten);
    }
    let lock = File::create(lock_of(destination.path()))
        .map_err(|error| refuse("its lock cannot be made", &error))?;
    lock.lock().map_err(|error| refuse("its lock cannot be taken", &error))?;
    let before = match fs::read_to_string(destination.path()) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(refuse("it cannot be read", &error)),
    };
    let after = with_entry(&before, entry).map_err(|message| failed(path, message))?;
    write(&destination, &after).map_err(unwritten)
}

fn write(destination: &Destination, text: &str) -> std::io::Result<()> {
    let mut file = OutputFile::at(destination)?;
    file.write_all(text.as_bytes())?;
    file.finish()
}

fn failed(path: &Path, message: String) -> TableError {
    TableError { path: path.to_owned(), message }
}

fn lock_of(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".lock");
    path.with_file_name(name)
}

/// The text of a table file with this entry in it.
fn with_entry(text: &str, entry: &DeviceEntry) -> Result<String, String> {
    let mut document: DocumentMut =
        text.parse().map_err(|error| format!("it is no TOML: {error}"))?;
    match document.get("format").map(Item::as_integer) {
        None => {
            document["format"] = toml_edit::value(i64::from(DeviceTable::FORMAT));
        }
        Some(Some(format)) if format == i64::from(DeviceTable::FORMAT) => {}
        Some(Some(1)) => from_format_1(&mut document),
        Some(_) => return Err(format!("its format is neither 1 nor {}", DeviceTable::FORMAT)),
    }
    let mut fresh = as_table(entry)?;
    let devices = document.entry("device").or_insert(Item::ArrayOfTables(ArrayOfTables::new()));
    let devices = devices
        .as_array_of_tables_mut()
        .ok_or("\"device\" is no list of entries that begin with [[device]]")?;
    let is_same = |table: &Table| {
        ["name", "platform", "vendor", "architecture", "type"]
            .iter()
            .all(|key| text_of(table, key) == text_of(&fresh, key))
    };
    let place = devices.iter().position(is_same);
    match place.and_then(|place| devices.get_mut(place)) {
        None => {
            forget_places(&mut fresh);
            devices.push(fresh);
        }
        Some(old) => replace(old, fresh, entry),
    }
    Ok(document.to_string())
}

/// Gives hyper-parameters the names that they have now, and the document the format that is written. What is no entry
/// of a device table stays as it is.
fn from_format_1(document: &mut DocumentMut) {
    if let Some(format) = document.get_mut("format").and_then(Item::as_value_mut) {
        let decor = format.decor().clone();
        *format = i64::from(DeviceTable::FORMAT).into();
        *format.decor_mut() = decor;
    }
    let devices = document.get_mut("device").and_then(Item::as_array_of_tables_mut);
    for device in devices.into_iter().flat_map(ArrayOfTables::iter_mut) {
        let kernel = device.get_mut("kernel").and_then(Item::as_table_like_mut);
        for (algorithm, lines) in kernel.into_iter().flat_map(TableLike::iter_mut) {
            let lines = lines.as_table_like_mut().into_iter().flat_map(TableLike::iter_mut);
            for line in lines.filter_map(|(_, line)| line.as_table_like_mut()) {
                rename_parameters(&algorithm, line);
            }
        }
        let choice = device.get_mut("choice").and_then(Item::as_table_like_mut);
        for (_, lists) in choice.into_iter().flat_map(TableLike::iter_mut) {
            let lists = lists.as_table_like_mut().into_iter().flat_map(TableLike::iter_mut);
            for rules in lists.filter_map(|(_, list)| list.as_array_of_tables_mut()) {
                for rule in rules.iter_mut() {
                    let Some(algorithm) = text_of(rule, "algorithm").map(str::to_owned) else {
                        continue;
                    };
                    if let Some(given) =
                        rule.get_mut("parameters").and_then(Item::as_table_like_mut)
                    {
                        rename_parameters(&algorithm, given);
                    }
                }
            }
        }
    }
}

/// Gives the hyper-parameters of a line or a rule the names that they have now, in their order.
fn rename_parameters(algorithm: &str, line: &mut dyn TableLike) {
    let is_old = |name: &str| current_name(algorithm, name) != name;
    if !line.iter().any(|(name, _)| is_old(name)) {
        return;
    }
    let names: Vec<_> = line.iter().map(|(name, _)| name.to_owned()).collect();
    for name in names {
        let Some(key) = line.key(&name) else { continue };
        let (leaf, dotted) = (key.leaf_decor().clone(), key.dotted_decor().clone());
        let renamed = Key::new(current_name(algorithm, &name));
        let renamed = renamed.with_leaf_decor(leaf).with_dotted_decor(dotted);
        if let Some(item) = line.remove(&name) {
            line.entry_format(&renamed).or_insert(item);
        }
    }
}

/// The entry as a table of a document.
fn as_table(entry: &DeviceEntry) -> Result<Table, String> {
    let text = toml_edit::ser::to_string_pretty(entry).map_err(|error| error.to_string())?;
    let document: DocumentMut = text.parse().map_err(|error| format!("{error}"))?;
    Ok(document.as_table().clone())
}

fn text_of<'a>(table: &'a Table, key: &str) -> Option<&'a str> {
    table.get(key).and_then(Item::as_str)
}

/// Of the same device: what was tuned now goes over what was tuned before.
fn replace(old: &mut Table, mut fresh: Table, entry: &DeviceEntry) {
    // A fact alone says nothing of where the rest of the entry comes from.
    let is_fact = entry.choice.is_empty() && entry.kernel.is_empty() && entry.model.is_empty();
    for key in ["origin", "driver"] {
        if let Some(item) = fresh.remove(key).filter(|_| !is_fact) {
            old.insert(key, item);
        }
    }
    // What a tuning of other value types, or of other kernels, has found stays.
    let tuned: BTreeSet<_> = entry.choice.keys().chain(entry.model.keys()).collect();
    for value_type in tuned {
        for key in ["choice", "model"] {
            if let Some(found) = old.get_mut(key).and_then(Item::as_table_mut) {
                found.remove(value_type);
            }
        }
        for algorithm in Algorithm::ALL {
            let kernel = old.get_mut("kernel").and_then(Item::as_table_mut);
            let line = kernel.and_then(|kernel| kernel.get_mut(algorithm.name()));
            if let Some(line) = line.and_then(Item::as_table_mut) {
                line.remove(value_type);
            }
        }
    }
    forget_places(&mut fresh);
    merge(old, fresh);
}

/// Tables within tables are joined; anything else is replaced.
fn merge(old: &mut Table, fresh: Table) {
    for (key, item) in fresh {
        match (old.get_mut(&key), item) {
            (Some(Item::Table(old)), Item::Table(fresh)) => merge(old, fresh),
            (_, item) => {
                old.insert(&key, item);
            }
        }
    }
}

/// Tables remember where they stood in the text they came from, and would go to that position of another.
fn forget_places(table: &mut Table) {
    table.set_position(None);
    for (_, item) in table.iter_mut() {
        match item {
            Item::Table(table) => forget_places(table),
            Item::ArrayOfTables(tables) => tables.iter_mut().for_each(forget_places),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse_device_table;

    const ENTRY: &str = "name = 'GPU'\nplatform = 'P'\norigin = 'tuned'\ndriver = '2'\n\
        [kernel.csr_adaptive.f32]\nnnz_per_wg = 512\n\
        [[choice.f32.several]]\nwhen = 'mean_row < 4'\nalgorithm = 'csr_vector'\n\
        parameters = { items_per_row = 2 }\n\
        [[choice.f32.several]]\nalgorithm = 'csr_adaptive'\n";

    fn entry(text: &str) -> DeviceEntry {
        toml_edit::de::from_str(text).unwrap()
    }

    fn read(text: &str) -> DeviceTable {
        let (table, problems) = parse_device_table(Path::new("t.toml"), text);
        assert_eq!(problems, [], "{text}");
        table
    }

    #[test]
    fn an_entry_goes_to_the_end_and_nothing_else_moves() {
        let before = "# mine\nformat = 2\n\n# the old one\n[[device]] # here\nname = 'Old'\norigin = 'x'\n\
                      [device.kernel.csr_scalar.f32]\ngroup_size = 64\n\n[[device]]\ntype = 'cpu'\norigin = 'y'\n";
        let after = with_entry(before, &entry(ENTRY)).unwrap();
        assert!(after.starts_with(before), "{after}");
        let table = read(&after);
        assert_eq!(table.devices.len(), 3);
        assert_eq!(table.devices[2], entry(ENTRY));
        // Written again it is the same text.
        assert_eq!(with_entry(&after, &entry(ENTRY)).unwrap(), after);
        assert_eq!(read(&with_entry("", &entry(ENTRY)).unwrap()).devices, [entry(ENTRY)]);
    }

    #[test]
    fn a_fact_alone_leaves_what_was_tuned_and_where_it_comes_from() {
        let tuned = with_entry("", &entry(ENTRY)).unwrap();
        let fact = DeviceEntry {
            kernel: Default::default(),
            choice: Default::default(),
            origin: "a probe".to_owned(),
            cache_bytes: Some(99),
            rates: None,
            ..entry(ENTRY)
        };
        let found = read(&with_entry(&tuned, &fact).unwrap()).devices;
        assert_eq!(found, [DeviceEntry { cache_bytes: Some(99), ..entry(ENTRY) }]);
        assert_eq!(read(&with_entry("", &fact).unwrap()).devices, [fact]);
    }

    #[test]
    fn what_was_tuned_goes_over_the_same_device_and_other_facts_stay() {
        let before = "format = 2\n[[device]]\nname = 'GPU'\nplatform = 'P'\norigin = 'old' # why\n\
                      cache_bytes = 77\n\
                      [device.kernel.csr_adaptive.f32]\nnnz_per_wg = 4096\nnum_rows_stream = 4\n\
                      [device.kernel.csr_scalar.f32]\ngroup_size = 1024\n\
                      [device.kernel.csr_scalar.f64]\ngroup_size = 512\n\
                      [device.kernel.batched.f32]\nsub_group_size = 32\n\
                      [[device.choice.f32.many]]\nalgorithm = 'evc_hyb'\n\
                      [[device.choice.f64.several]]\nalgorithm = 'csr_scalar'\n\
                      # of another platform\n[[device]]\nname = 'GPU'\nplatform = 'Q'\norigin = 'z'\n";
        let after = with_entry(before, &entry(ENTRY)).unwrap();
        let table = read(&after);
        assert_eq!(table.devices.len(), 2, "{after}");
        let found = &table.devices[0];
        assert_eq!((found.origin.as_str(), found.cache_bytes), ("tuned", Some(77)));
        assert_eq!(found.kernel["csr_adaptive"]["f32"], [("nnz_per_wg".to_owned(), 512)].into());
        assert!(found.kernel.get("csr_scalar").is_none_or(|lines| !lines.contains_key("f32")));
        assert_eq!(found.kernel["csr_scalar"]["f64"]["group_size"], 512);
        assert_eq!(found.kernel["batched"]["f32"]["sub_group_size"], 32);
        assert_eq!(found.choice["f32"], entry(ENTRY).choice["f32"]);
        assert_eq!(found.choice["f64"].several.len(), 1);
        assert!(after.ends_with(
            "# of another platform\n[[device]]\nname = 'GPU'\nplatform = 'Q'\norigin = 'z'\n"
        ));
    }

    #[test]
    fn a_model_takes_the_place_of_rules_for_its_value_type_and_rules_that_of_a_model() {
        let numbers = "launch = 1\nlatency = 1\ncached_kb = 1\nmemory_kb = 1\nnonzero = 1\nitem = 1\n\
                       gather = 1\nrow = 1\nstep = 1\nline = 1\nchain = 1\ncopied = 1\nmargin = 0.06\n";
        let head = "name = 'GPU'\nplatform = 'P'\norigin = 'modelled'\ndriver = '2'\n";
        let modelled = entry(&format!("{head}[model.f32]\n{numbers}"));
        let rules = with_entry("", &entry(ENTRY)).unwrap();
        let model = with_entry(&rules, &modelled).unwrap();
        assert_eq!(read(&model).devices, std::slice::from_ref(&modelled), "{model}");
        assert_eq!(read(&with_entry(&model, &entry(ENTRY)).unwrap()).devices, [entry(ENTRY)]);
        // Of other value types nothing goes.
        let of_f64 = entry(&format!("{head}[model.f64]\n{numbers}"));
        let both = read(&with_entry(&rules, &of_f64).unwrap()).devices;
        assert_eq!((&both[0].choice, &both[0].model), (&entry(ENTRY).choice, &of_f64.model));
    }

    #[test]
    fn a_table_of_format_1_becomes_one_of_format_2_with_the_names_of_now() {
        let before = "format = 1 # the first\n[[device]]\nname = 'Old'\norigin = 'x'\n\
                      [device.kernel.csr_flat.f32]\ngroup_size = 64\n# large\npiece_nnz = 2048 # each\nwhole_row = 32\n\
                      [device.kernel.segmented_sum.f32]\nbunch_size = 32\n\
                      [[device.choice.f32.several]]\nalgorithm = 'csr_pieces'\n\
                      parameters = { lanes = 4, least_piece = 64 }\n";
        let now = before.replace("format = 1", "format = 2");
        let now = now.replace("piece_nnz", "tile_nnz").replace("least_piece", "least_chunk");
        let after = with_entry(before, &entry(ENTRY)).unwrap();
        assert!(after.starts_with(&now), "{after}");
        let table = read(&after);
        assert_eq!(table.devices[0].kernel["csr_flat"]["f32"]["tile_nnz"], 2048);
        assert_eq!(table.devices[0], read(before).devices[0]);
        assert_eq!(table.devices[1], entry(ENTRY));
    }

    #[test]
    fn a_file_that_is_no_table_is_refused_and_not_touched() {
        let folder = std::env::temp_dir().join(format!("sparrow-table-{}", std::process::id()));
        let path = folder.join("devices.toml");
        write_entry(&path, &entry(ENTRY)).unwrap();
        for wrong in ["format = ", "format = 3\n", "format = 2\ndevice = 3\n"] {
            fs::write(&path, wrong).unwrap();
            let error = write_entry(&path, &entry(ENTRY)).unwrap_err();
            assert_eq!(error.path, path);
            assert_eq!(fs::read_to_string(&path).unwrap(), wrong);
        }
        let names: Vec<_> =
            fs::read_dir(&folder).unwrap().map(|e| e.unwrap().file_name()).collect();
        assert!(names.iter().all(|name| !name.to_string_lossy().contains("part")), "{names:?}");
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn writers_at_once_lose_nothing() {
        let folder = std::env::temp_dir().join(format!("sparrow-writers-{}", std::process::id()));
        let path = folder.join("devices.toml");
        std::thread::scope(|scope| {
            for writer in 0..8 {
                let path = &path;
                scope.spawn(move || {
                    let one = entry(&ENTRY.replace("'GPU'", &format!("'GPU {writer}'")));
                    write_entry(path, &one).unwrap();
                });
            }
        });
        assert_eq!(read(&fs::read_to_string(&path).unwrap()).devices.len(), 8);
        fs::remove_dir_all(&folder).unwrap();
    }
}
