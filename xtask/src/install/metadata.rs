//! What CMake and pkg-config are told: where header and library lie, from the file that says so.

use super::libraries::Library;
use std::path::{Path, PathBuf};

/// Files for a library, by their path below the folder of libraries.
pub(super) fn files(library: &Library, libdir: &Path) -> Vec<(PathBuf, String)> {
    let package = library.package;
    let cmake = Path::new("cmake").join(package);
    vec![
        (cmake.join(format!("{package}Config.cmake")), config(library, libdir)),
        (cmake.join(format!("{package}ConfigVersion.cmake")), config_version(library)),
        (Path::new("pkgconfig").join(format!("{package}.pc")), pkg_config(library, libdir)),
    ]
}

/// From a folder `depth` below the prefix to the prefix.
fn up(depth: usize) -> String {
    vec![".."; depth].join("/")
}

/// Below the folder of libraries: cmake/PACKAGE.
fn config(library: &Library, libdir: &Path) -> String {
    let Library { package, soname, file, .. } = library;
    let prefix = up(libdir.components().count() + 2);
    let libdir = libdir.display();
    let definitions = match library.definitions {
        [] => String::new(),
        some => format!("        INTERFACE_COMPILE_DEFINITIONS \"{}\"\n", some.join(";")),
    };
    format!(
        "\
# find_package({package} CONFIG): the imported target {package}. OpenCL itself is the program's to link.
get_filename_component(_{package}_prefix \"${{CMAKE_CURRENT_LIST_DIR}}/{prefix}\" ABSOLUTE)
set({package}_INCLUDE_DIR \"${{_{package}_prefix}}/include\")
set({package}_INCLUDE_DIRS \"${{{package}_INCLUDE_DIR}}\")
set({package}_LIB_INSTALL_DIR \"${{_{package}_prefix}}/{libdir}\")
set({package}_LIBRARIES {package})
if(NOT TARGET {package})
    add_library({package} SHARED IMPORTED)
    set_target_properties({package} PROPERTIES
        IMPORTED_LOCATION \"${{{package}_LIB_INSTALL_DIR}}/{file}\"
        IMPORTED_SONAME \"{soname}\"
{definitions}        INTERFACE_INCLUDE_DIRECTORIES \"${{{package}_INCLUDE_DIR}}\")
endif()
unset(_{package}_prefix)
"
    )
}

/// Any version of the same major number that is no newer.
fn config_version(library: &Library) -> String {
    let version = library.version;
    let major = version.split('.').next().unwrap_or(version);
    format!(
        "\
set(PACKAGE_VERSION \"{version}\")
set(PACKAGE_VERSION_COMPATIBLE FALSE)
if(PACKAGE_FIND_VERSION_MAJOR STREQUAL \"{major}\" AND NOT PACKAGE_VERSION VERSION_LESS PACKAGE_FIND_VERSION)
    set(PACKAGE_VERSION_COMPATIBLE TRUE)
endif()
if(PACKAGE_FIND_VERSION STREQUAL PACKAGE_VERSION)
    set(PACKAGE_VERSION_EXACT TRUE)
endif()
"
    )
}

/// Below the folder of libraries: pkgconfig.
fn pkg_config(library: &Library, libdir: &Path) -> String {
    let Library { package, version, description, .. } = library;
    let prefix = up(libdir.components().count() + 1);
    let libdir = libdir.display();
    let definitions: String =
        library.definitions.iter().map(|definition| format!(" -D{definition}")).collect();
    format!(
        "\
prefix=${{pcfiledir}}/{prefix}
libdir=${{prefix}}/{libdir}
includedir=${{prefix}}/include

Name: {package}
Description: {description}
Version: {version}
Libs: -L${{libdir}} -l{package}
Cflags: -I${{includedir}}{definitions}
"
    )
}

#[cfg(test)]
mod tests {
    use super::super::libraries::LIBRARIES;
    use super::*;

    #[test]
    fn nothing_names_the_folder_it_is_installed_in_and_all_find_their_way_back() {
        for library in LIBRARIES {
            let found = files(library, Path::new("lib/x86_64-linux-gnu"));
            let of = |end: &str| {
                &found.iter().find(|(path, _)| path.to_string_lossy().ends_with(end)).unwrap().1
            };
            assert!(of("Config.cmake").contains("LIST_DIR}/../../../..\" ABSOLUTE"));
            assert!(of(".pc").contains("prefix=${pcfiledir}/../../..\n"), "{}", of(".pc"));
            assert!(found.iter().all(|(_, text)| !text.contains("=/")));
        }
    }
}
