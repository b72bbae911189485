//! Oclgrind's findings in a test's output.
//!
//! Oclgrind writes them to standard error and lets the program end with status 0, so the text is the
//! only sign. Findings about a kernel are a headline ("Invalid write of size 4 at global memory address
//! ...", "Write-write data race at ...", "Uninitialized value written to ...", "Work-group divergence
//! detected (barrier)") followed by an indented line that names the kernel; misuse of the interface has
//! a headline of its own, followed by the function and the error.

const API_HEADLINE: &str = "Oclgrind - OpenCL runtime error detected";
const FATAL_HEADLINE: &str = "OCLGRIND FATAL ERROR";

/// One line a finding: what, and in which kernel or function.
pub(super) fn findings(output: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut headline = "";
    let mut function = "";
    for line in output.lines() {
        let text = line.trim();
        let indented = line.starts_with('\t');
        if let Some(kernel) = text.strip_prefix("Kernel:").filter(|_| indented) {
            found.push(format!("{headline} (kernel {})", kernel.trim()));
        } else if headline == API_HEADLINE && indented {
            if let Some(name) = text.strip_prefix("Function:") {
                function = name.trim();
            } else if let Some(error) = text.strip_prefix("Error:") {
                let error = error.trim();
                if !is_expected(function, error) {
                    found.push(format!("{error} from {function}"));
                }
            }
        } else if text.contains(FATAL_HEADLINE) {
            found.push(text.to_owned());
        }
        if !text.is_empty() && !indented {
            headline = text;
        }
    }
    found
}

/// Asking a device for what it does not know, compiling what has an error, and offering a binary that is
/// none are answered by an error code: programs may do all three. If they did not mean to, they fail by
/// themselves.
fn is_expected(function: &str, error: &str) -> bool {
    function.starts_with("clGet")
        || ["CL_BUILD_PROGRAM_FAILURE", "CL_INVALID_BINARY"].contains(&error)
}

#[cfg(test)]
mod tests {
    use super::findings;

    // Printed by Oclgrind 21.10 for kernels with these faults.
    const WRITE: &str = "test beta ... \nInvalid write of size 4 at global memory address 0x1000000000010\n\
        \tKernel: oob\n\tEntity: Global(0,0,0) Local(0,0,0) Group(0,0,0)\n\
        \t  store i32 1, i32 addrspace(1)* %arrayidx, align 4, !dbg !24, !tbaa !25\n\
        \tAt line 2 (column 53) of input.cl:\n\
        \t  kernel void oob(global int*a){ a[get_global_id(0)+4]=1; }\n\t\nok\n";
    const RACE: &str = "\nWrite-write data race at local memory address 0x1000000000000\n\
        \tKernel: racel\n\t\n\tFirst entity:  Global(1,0,0) Local(1,0,0) Group(0,0,0)\n\
        \t  store i32 %conv, i32 addrspace(3)* %l, align 4, !dbg !24, !tbaa !25\n\
        \t\n\tSecond entity: Global(0,0,0) Local(0,0,0) Group(0,0,0)\n";
    const UNINITIALISED: &str = "\nUninitialized value written to global memory address 0x1000000000000\n\tKernel: uninit2\n";
    const DIVERGENCE: &str = "\nWork-group divergence detected (barrier)\n\tKernel:     div\n\
        \tWork-group: (0,0,0)\n\tOnly 2 out of 4 work-items executed barrier\n";
    const API: &str = "\nOclgrind - OpenCL runtime error detected\n\tFunction: clSetKernelArg\n\
        \tError:    CL_INVALID_ARG_SIZE\n\targ_size is 1, but argument should be 8 bytes\n\n";

    #[test]
    fn each_kind_of_fault_is_found_once() {
        for (output, expected) in [
            (
                WRITE,
                "Invalid write of size 4 at global memory address 0x1000000000010 (kernel oob)",
            ),
            (RACE, "Write-write data race at local memory address 0x1000000000000 (kernel racel)"),
            (
                UNINITIALISED,
                "Uninitialized value written to global memory address 0x1000000000000 (kernel uninit2)",
            ),
            (DIVERGENCE, "Work-group divergence detected (barrier) (kernel div)"),
            (API, "CL_INVALID_ARG_SIZE from clSetKernelArg"),
        ] {
            assert_eq!(findings(output), [expected]);
        }
        assert_eq!(findings(&[WRITE, RACE, API, UNINITIALISED].concat()).len(), 4);
        assert_eq!(findings("OCLGRIND FATAL ERROR (Queue.cpp:1)\n").len(), 1);
    }

    #[test]
    fn ordinary_output_and_questions_to_a_device_are_no_findings() {
        let output = "running 2 tests\ntest kernel_is_found ... ok\nKernel: csr_scalar\n\
            test result: ok. 2 passed; 0 failed\n";
        assert!(findings(output).is_empty());
        let query = API.replace("clSetKernelArg", "clGetDeviceInfo");
        assert!(findings(&query).is_empty());
        let build = API
            .replace("clSetKernelArg", "clBuildProgram")
            .replace("CL_INVALID_ARG_SIZE", "CL_BUILD_PROGRAM_FAILURE");
        assert!(findings(&build).is_empty());
        assert!(findings(&build.replace("BUILD_PROGRAM_FAILURE", "INVALID_BINARY")).is_empty());
    }
}
