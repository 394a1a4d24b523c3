/** `reeve why`: why an object is as it is, what is done about it, and what is waited for. */
import { type AnyObject, resource, servedResources } from '@reeve/kube';
import type { CommandLine } from '../command.ts';
import { type ExitCode, exit, usage } from '../errors.ts';
import { withApi } from './api.ts';
import { eventTime } from './columns.ts';
import { explain, type Happened } from './explanation.ts';
import { readWanted, resolveKind } from './kinds.ts';
import type { apiOptions } from './spec.ts';

const events = resource({ group: '', version: 'v1', plural: 'events', kind: 'Event', namespaced: true });

export async function run(line: CommandLine<typeof apiOptions>): Promise<ExitCode> {
  const { io, words, signal } = line;
  const [wanted, ...more] = words.length === 0 ? [] : readWanted(words);
  const [name, ...names] = wanted?.names ?? [];
  if (!wanted || name === undefined || more.length + names.length > 0) throw usage('reeve why takes KIND/NAME');
  return withApi(line, async ({ client, namespace }) => {
    const served = resolveKind(await servedResources(client, { signal }), wanted.kind);
    const home = served.namespaced ? namespace : undefined;
    const object: AnyObject = await client.resource(resource(served), home).get(name, { signal });
    const fieldSelector = `involvedObject.kind=${served.kind},involvedObject.name=${name}`;
    const { items } = await client.resource(events, home ?? 'default').listAll({ fieldSelector, signal });
    io.out(explain(`${served.kind} ${name}`, object, items.toSorted(byTime).map(happened)));
    return exit.ok;
  });
}

const byTime = (a: AnyObject, b: AnyObject): number => Date.parse(eventTime(a) ?? '') - Date.parse(eventTime(b) ?? '');

function happened(event: AnyObject): Happened {
  const { reason = '', message = '', type } = event as { reason?: string; message?: string; type?: string };
  return { reason, note: message, isWarning: type === 'Warning' };
}
