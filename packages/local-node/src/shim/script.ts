/**
 * The shim: what stands between the node and a container, so that either outlives the other. It claims the run, so that nobody starts
 * it twice; a second process says who it is and becomes the program, in the foreground, so that no signal is ignored there; and the
 * first one writes the exit code, as a whole or not at all. Output goes straight to a file: a pipe would end with its reader.
 *
 * What the shells themselves have to say (`Killed`) is not part of the program's output. Only builtins until the program has ended, and
 * no second shell: each program more would be a millisecond more. Names of variables begin with `reeve_`: a pod's own would be lost.
 *
 * Everything is written over what the node put there before (`<>` does not empty a file): on a disk that has become full there is no
 * other room. Where that fails all the same, a run that cannot say who it is does not begin, and of an exit code nothing is said rather
 * than something wrong.
 *
 * What the program leaves behind ends with it, as it would with a box: the shim leads the group of all that did not make one of their own.
 * Nobody would find them any more who wrote a title over their environment (a child of Valkey that saves), once the shim is gone.
 *
 * Whoever makes a box for the program writes to file 9 when it is made. It is opened here: in the box its path may be hidden.
 */
export const SHIM = `# reeve-shim FOLDER PROGRAM [ARGUMENT...]
reeve_run=$1
shift
set -C
: >"$reeve_run/claim" || exit 125
set +C
exec </dev/null >>"$reeve_run/log" 2>/dev/null
trap : HUP INT QUIT TERM
read -r reeve_shim </proc/$$/stat
[ -z "$REEVE_BOXED" ] || exec 9<>"$reeve_run/up"
(read -r reeve_main </proc/self/stat
read -r reeve_boot </proc/sys/kernel/random/boot_id
printf '%s\\n%s\\n%s\\n' "$reeve_main" "$reeve_shim" "$reeve_boot" 1<>"$reeve_run/main" || exit 125
unset REEVE_BOXED
exec "$@") 2>&1
reeve_code=$?
printf '%s\\n' "$reeve_code" 1<>"$reeve_run/exit.new" &&
PATH=/usr/bin:/bin mv "$reeve_run/exit.new" "$reeve_run/exit"
kill -s KILL 0
`;

/** For boxes: says that it is made. Nobody may be listening where a box is only tried out. */
export const SAY_UP = '{ echo >&9; } 2>/dev/null; exec 9>&-';
