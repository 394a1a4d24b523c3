/** The cases of apply and patch, sent to the server by our client. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type AnyObject, KubeError, type Resource, resource, type Status } from '@reeve/kube';
import { basicCases } from '../cases/apply-basic-cases-testing.ts';
import { builtinCases } from '../cases/apply-builtin-cases-testing.ts';
import { statusCases } from '../cases/apply-status-cases-testing.ts';
import { structureCases } from '../cases/apply-structure-cases-testing.ts';
import type { Case, Step } from '../cases/case-testing.ts';
import { patchCases } from '../cases/patch-cases-testing.ts';
import { strategicCases } from '../cases/strategic-cases-testing.ts';
import { thingSchema } from '../cases/thing-testing.ts';
import { ownersOf, valueAt } from '../cases/world-testing.ts';
import { builtinKinds } from '../kinds/builtin.ts';
import { type JsonObject, textOf } from '../object/draft.ts';
import { mergePatch } from '../patch/merge-patch.ts';
import { crds, openServer } from './server-testing.ts';

const things = {
  metadata: { name: 'things.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: 'things', kind: 'Thing' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: { openAPIV3Schema: { type: 'object', ...thingSchema } },
      },
    ],
  },
};

type Server = Awaited<ReturnType<typeof openServer>>;

function resourceOf({ apiVersion, kind }: JsonObject): Resource<AnyObject> {
  const [version = '', group = ''] = textOf(apiVersion).split('/').reverse();
  const known = builtinKinds.find((one) => one.kind === kind && one.group === group);
  return resource({
    group,
    version,
    kind: textOf(kind),
    plural: known?.plural ?? 'things',
    namespaced: known?.namespaced ?? true,
  });
}

/** One object; what is sent names it, what is read back stays. */
class Trial {
  readonly #server: Server;
  object: AnyObject | undefined;

  constructor(server: Server) {
    this.#server = server;
  }

  async run(step: Step): Promise<AnyObject> {
    const given = 'apply' in step ? step.apply : 'create' in step ? step.create : (this.object ?? things);
    const what = resourceOf(given as JsonObject);
    const client = this.#server.of(what);
    const options = {
      fieldManager: step.by,
      // Cases tell the server's answers to unknown fields that are dropped.
      fieldValidation: 'Ignore' as const,
      ...(step.via === undefined ? {} : { subresource: step.via }),
    };
    await this.#server.clock.advance(1_000);
    const sent = (object: JsonObject): AnyObject => {
      const { namespace, ...metadata } = object.metadata as JsonObject;
      return { ...object, metadata: what.namespaced ? { namespace, ...metadata } : metadata } as AnyObject;
    };
    if ('apply' in step) {
      const applied = sent(step.apply) as AnyObject & { readonly metadata: { readonly name: string } };
      // Our client never sends these; others do.
      if (applied.metadata.managedFields !== undefined) return this.#applyAsIs(applied, step.by);
      return (this.object = await client.apply(applied, { ...options, force: step.force === true }));
    }
    if ('create' in step) return (this.object = await client.create(sent(step.create), options));
    const name = this.object?.metadata.name ?? 'one';
    if ('update' in step) {
      const live = await client.get(name);
      const changed = mergePatch(live as unknown as JsonObject, step.update);
      assert.ok('object' in changed);
      return (this.object = await client.update(changed.object as unknown as typeof live, options));
    }
    const patch =
      'merge' in step
        ? { type: 'merge' as const, value: step.merge }
        : 'json' in step
          ? { type: 'json' as const, value: step.json }
          : { type: 'strategic' as const, value: (step as { strategic: unknown }).strategic };
    return (this.object = await client.patch(name, patch as never, options));
  }

  async end(): Promise<void> {
    if (this.object === undefined) return;
    const client = this.#server.of(resourceOf(this.object as unknown as JsonObject));
    const { name } = this.object.metadata;
    await client.patch(name as string, { type: 'merge', value: { metadata: { finalizers: null } } });
    await client.delete(name as string);
  }

  async #applyAsIs(applied: AnyObject, manager: string): Promise<AnyObject> {
    const path = `/apis/example.com/v1/namespaces/default/things/one?fieldManager=${manager}`;
    const { json } = await this.#server.request('PATCH', path, applied, {
      'content-type': 'application/apply-patch+yaml',
    });
    return json;
  }
}

async function attempt(run: Promise<AnyObject>): Promise<AnyObject | Status> {
  try {
    return await run;
  } catch (error) {
    if (error instanceof KubeError && error.status) return error.status;
    throw error;
  }
}

// One server for all cases: each takes its object away again.
const server = await openServer();
await server.of(crds).create(things as AnyObject);

async function check({ steps, expected }: Case): Promise<void> {
  const trial = new Trial(server);
  for (const [index, step] of steps.entries()) {
    const before = trial.object?.metadata.resourceVersion;
    const answer = await attempt(trial.run(step));
    const status = answer.kind === 'Status' ? (answer as Status) : undefined;
    assert.equal(status?.code, step.fails?.code, `step ${index}: ${status?.message}`);
    if (step.fails?.message !== undefined) assert.equal(status?.message, step.fails.message);
    if (step.unchanged) assert.equal(trial.object?.metadata.resourceVersion, before, `step ${index} wrote something`);
  }
  const object = (trial.object ?? {}) as unknown as JsonObject;
  for (const [path, value] of Object.entries(expected.values ?? {})) {
    assert.deepEqual(valueAt(object, path), value, path);
  }
  if (expected.owns) assert.deepEqual(sorted(ownersOf(object)), sorted(expected.owns));
  assert.deepEqual(server.errors, []);
  await trial.end();
}

function sorted(owns: Readonly<Record<string, readonly string[]>>): Record<string, string[]> {
  return Object.fromEntries(Object.entries(owns).map(([name, fields]) => [name, [...fields].sort()]));
}

const cases = [...basicCases, ...structureCases, ...statusCases, ...builtinCases, ...patchCases, ...strategicCases];

for (const one of cases) test(one.name, () => check(one));
