/** `reeve why`: why an object is as it is, what is done about it, and what is waited for. */
import { type AnyObject, resource, servedResources } from '@reeve/kube';
import type { CommandLine } from '../command.ts';
import { type ExitCode, exit, usage } from '../errors.ts';
import { withApi } from './api.ts';
import { eventTime } from './columns.ts';
import { explanationOf, explanationText, type Happened } from './explanation.ts';
import { readWanted, resolveKind } from './kinds.ts';
import { documentText } from './print.ts';
import type { whyOptions } from './spec.ts';

const events = resource({ group: '', version: 'v1', plural: 'events', kind: 'Event', namespaced: true });

export async function run(line: CommandLine<typeof whyOptions>): Promise<ExitCode> {
  const { io, values, words, signal } = line;
  const [wanted, ...more] = words.length === 0 ? [] : readWanted(words);
  const [name, ...names] = wanted?.names ?? [];
  if (!wanted || name === undefined || more.length + names.length > 0) throw usage('reeve why takes KIND/NAME');
  return withApi(line, async ({ client, namespace }) => {
    const served = resolveKind(await servedResources(client, { signal }), wanted.kind);
    const home = served.namespaced ? namespace : undefined;
    const object: AnyObject = await client.resource(resource(served), home).get(name, { signal });
    const fieldSelector = `involvedObject.kind=${served.kind},involvedObject.name=${name}`;
    const { items } = await client.resource(events, home ?? 'default').listAll({ fieldSelector, signal });
    const explanation = explanationOf({
      kind: served.group === '' ? served.kind : `${served.kind}.${served.group}`,
      object,
      events: items
        .filter((event) => isAbout(event, object))
        .toSorted(byTime)
        .map(happened),
      now: io.ports.clock.now(),
    });
    const form = values.output ?? 'text';
    const isText = form === 'text' || form === 'table'; // `table` is the word of the other commands
    io.out(isText ? explanationText(explanation) : documentText(explanation, form as 'json' | 'yaml'));
    return exit.ok;
  });
}

/** Not about one of the same name that was there before. Those of nodes have the name in the place of the uid. */
function isAbout(event: AnyObject, { metadata }: AnyObject): boolean {
  const { uid } = (event as { involvedObject?: { uid?: string } }).involvedObject ?? {};
  return uid === undefined || uid === '' || uid === metadata.uid || uid === metadata.name;
}

const byTime = (a: AnyObject, b: AnyObject): number => Date.parse(eventTime(a) ?? '') - Date.parse(eventTime(b) ?? '');

function happened(event: AnyObject): Happened {
  const { reason = '', message = '', type } = event as { reason?: string; message?: string; type?: string };
  return { reason, note: message, isWarning: type === 'Warning', at: eventTime(event) };
}
