/** `reeve completion`: scripts for shells, made of what commands say they take. */
import { type CommandSpec, type OptionSpec, optionsOf } from '../args.ts';
import type { CommandLine } from '../command.ts';
import { type ExitCode, exit, usage } from '../errors.ts';

const SHELLS = ['bash', 'zsh', 'fish'] as const;

export function printCompletion({ words, io }: CommandLine, others: readonly CommandSpec[]): Promise<ExitCode> {
  const [word, more] = words;
  const shell = SHELLS.find((one) => one === word);
  if (!shell || more !== undefined) throw usage(`reeve completion takes one of ${SHELLS.join(', ')}`);
  const known: readonly Known[] = [...others.map(knownOf), { name: 'completion', options: [], words: SHELLS }];
  io.out(shell === 'fish' ? fishScript(known) : shell === 'zsh' ? zshScript(known) : bashScript(known));
  return Promise.resolve(exit.ok);
}

/** What completion needs to know of a command. */
interface Known {
  /** `get`, `redis create`. */
  readonly name: string;
  readonly options: readonly { readonly name: string; readonly spec: OptionSpec }[];
  /** What may follow, where that is known. */
  readonly words: readonly string[];
}

function knownOf(spec: CommandSpec): Known {
  const options = Object.entries(optionsOf(spec)).map(([name, option]) => ({ name, spec: option }));
  return { name: spec.name, options, words: [] };
}

const flagsOf = ({ name, spec }: Known['options'][number]): readonly string[] => [
  `--${name}`,
  ...(spec.short === undefined ? [] : [`-${spec.short}`]),
];
const choicesOf = ({ spec }: Known['options'][number]): readonly string[] =>
  spec.type === 'text' ? (spec.choices ?? []) : [];
const unique = (words: readonly string[]): readonly string[] => [...new Set(words)];

/** First words, and what may follow those that need a second. */
function wordsOf(commands: readonly Known[]) {
  const split = commands.map(({ name }) => name.split(' '));
  const first = unique(split.map(([word = '']) => word));
  const families = first.flatMap((family) => {
    const second = split.flatMap(([word, verb]) => (word === family && verb !== undefined ? [verb] : []));
    return second.length === 0 ? [] : [{ family, second }];
  });
  return { first, families };
}

/** Where nothing is known, the shell completes file names. */
function bashScript(commands: readonly Known[]): string {
  const { first, families } = wordsOf(commands);
  const offer = (words: readonly string[]): string => `COMPREPLY=($(compgen -W "${words.join(' ')}" -- "$cur"))`;
  const afterOption = commands.flatMap((command) =>
    command.options
      .filter(({ spec }) => spec.type !== 'flag')
      .map((option) => {
        const patterns = flagsOf(option).map((flag) => `"${command.name} ${flag}"`);
        const choices = choicesOf(option);
        return `    ${patterns.join(' | ')}) ${choices.length === 0 ? '' : `${offer(choices)}; `}return ;;`;
      }),
  );
  const afterCommand = commands.map((command) => {
    const flags = [...command.options.flatMap(flagsOf), '--help'];
    return `    "${command.name}") options="${flags.join(' ')}"; words="${command.words.join(' ')}" ;;`;
  });
  return [
    '# Completion of reeve for bash: source <(reeve completion bash)',
    '_reeve() {',
    '  local cur="${COMP_WORDS[COMP_CWORD]}" prev="${COMP_WORDS[COMP_CWORD - 1]}"',
    '  local command="${COMP_WORDS[1]}" options="" words=""',
    '  COMPREPLY=()',
    `  if [ "$COMP_CWORD" -eq 1 ]; then ${offer([...first, '--help', '--version'])}; return; fi`,
    ...families.flatMap(({ family, second }) => [
      `  if [ "$command" = "${family}" ]; then`,
      `    if [ "$COMP_CWORD" -eq 2 ]; then ${offer(second)}; return; fi`,
      `    command="${family} \${COMP_WORDS[2]}"`,
      '  fi',
    ]),
    '  case "$command $prev" in',
    ...afterOption,
    '  esac',
    '  case "$command" in',
    ...afterCommand,
    '  esac',
    '  case "$cur" in',
    '    -*) COMPREPLY=($(compgen -W "$options" -- "$cur")) ;;',
    '    *) COMPREPLY=($(compgen -W "$words" -- "$cur")) ;;',
    '  esac',
    '}',
    'complete -o default -F _reeve reeve',
    '',
  ].join('\n');
}

/** zsh understands what bash completes with. */
function zshScript(commands: readonly Known[]): string {
  return `autoload -U +X bashcompinit && bashcompinit\n${bashScript(commands)}`;
}

/** By their place: `redis` is a command of its own, and the second word of another. */
const FISH_AFTER = [
  'function __reeve_after',
  '  set -l words (commandline -opc)',
  '  set -l last (math (count $argv) + 1)',
  '  test (count $words) -ge $last; and test "$words[2..$last]" = "$argv"',
  'end',
];

function fishScript(commands: readonly Known[]): string {
  const { first, families } = wordsOf(commands);
  const quoted = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
  const after = (name: string): string => quoted(`__reeve_after ${name}`);
  const lines = commands.flatMap((command) => [
    ...command.words.map((word) => `complete -c reeve -f -n ${after(command.name)} -a ${word}`),
    ...command.options.map((option) => {
      const { name, spec } = option;
      const choices = choicesOf(option);
      const value = spec.type === 'flag' ? '' : choices.length === 0 ? ' -r' : ` -x -a ${quoted(choices.join(' '))}`;
      const short = spec.short === undefined ? '' : ` -s ${spec.short}`;
      return `complete -c reeve -n ${after(command.name)} -l ${name}${short}${value} -d ${quoted(spec.help)}`;
    }),
  ]);
  return [
    '# Completion of reeve for fish: reeve completion fish | source',
    ...FISH_AFTER,
    `complete -c reeve -f -n __fish_use_subcommand -a ${quoted(first.join(' '))}`,
    ...families.map(({ family, second }) => {
      const isNext = `__reeve_after ${family}; and test (count (commandline -opc)) -eq 2`;
      return `complete -c reeve -f -n ${quoted(isNext)} -a ${quoted(second.join(' '))}`;
    }),
    ...lines,
    '',
  ].join('\n');
}
