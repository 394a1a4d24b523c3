/** What `reeve completion` takes. It knows all other commands. */
import type { CommandSpec } from '../args.ts';
import { type Command, defineCommand } from '../command.ts';

export function completionCommand(others: readonly CommandSpec[]): Command {
  return defineCommand({
    name: 'completion',
    takes: 'bash | zsh | fish',
    summary: 'a script by which a shell completes commands and options',
    description: [
      'bash: source <(reeve completion bash). zsh: source <(reeve completion zsh), after compinit. fish: reeve completion fish | source.',
    ],
    options: {},
    examples: [{ line: 'reeve completion bash', what: 'prints it; ~/.bashrc can source it' }],
    load: async () => {
      const { printCompletion } = await import('./completion.ts');
      return { run: (line) => printCompletion(line, others) };
    },
  });
}
