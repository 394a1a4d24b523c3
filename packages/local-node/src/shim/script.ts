/**
 * The shim: what stands between the node and a container, so that either outlives the other. It claims the run, so that nobody starts
 * it twice; the second shell says who it is and becomes the program, in the foreground, so that no signal is ignored there; and the
 * first one writes the exit code, as a whole or not at all. Output goes straight to a file: a pipe would end with its reader.
 *
 * What the shells themselves have to say (`Killed`) is not part of the program's output. Only builtins until the program has ended: each process more would be a millisecond more.
 */
export const SHIM = `# reeve-shim FOLDER PROGRAM [ARGUMENT...]
folder=$1
shift
set -C
: >"$folder/claim" || exit 125
set +C
exec </dev/null >>"$folder/log" 2>/dev/null
trap : HUP INT QUIT TERM
read -r shim </proc/$$/stat
export REEVE_SHIM_STAT="$shim"
(exec \${REEVE_SHELL:-sh} -c 'read -r main </proc/$$/stat
read -r boot </proc/sys/kernel/random/boot_id
printf "%s\\n%s\\n%s\\n" "$main" "$REEVE_SHIM_STAT" "$boot" >"$0/main"
unset REEVE_SHIM_STAT REEVE_SHELL
exec "$@"' "$folder" "$@") 2>&1
code=$?
printf '%s\\n' "$code" >"$folder/exit.new"
PATH=/usr/bin:/bin mv "$folder/exit.new" "$folder/exit"
`;
