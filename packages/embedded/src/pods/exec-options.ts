/** The query of `pods/exec`, checked as the server and its kubelet check it. Pure. */
import { flag } from '../rest/list-options.ts';
import { badRequest, Refusal } from '../status/refusal.ts';

export interface ExecQuery {
  /** Empty: not said. */
  readonly container: string;
  readonly command: readonly string[];
  readonly stdin: boolean;
  readonly stdout: boolean;
  readonly stderr: boolean;
}

export function readExecQuery(query: URLSearchParams): ExecQuery {
  const [stdin, stdout, stderr] = ['stdin', 'stdout', 'stderr'].map((name) => flag(query, name) ?? false);
  if (flag(query, 'tty')) {
    const message = 'containers have no terminals here: leave tty out (kubectl exec without -t)';
    throw new Refusal(501, 'NotImplemented', message);
  }
  if (!stdin && !stdout && !stderr) throw badRequest('you must specify at least 1 of stdin, stdout, stderr');
  const command = query.getAll('command').filter((word, at) => at > 0 || word !== '');
  if (command.length === 0) throw badRequest('you must specify at least one command for the container');
  return {
    container: query.get('container') ?? '',
    command,
    stdin: stdin === true,
    stdout: stdout === true,
    stderr: stderr === true,
  };
}
