/** What tests against a real kube-apiserver share. */
import type { TestContext } from 'node:test';
import { definitionOf, type Kube } from '@reeve/rig';
import { isKubeError, type KubeErrorCode } from '../errors/errors.ts';
import type { KubeObject } from '../object/object.ts';
import { resource } from '../object/resource.ts';
import type { WatchEvent } from '../object/watch-event.ts';
import { systemKubePorts } from '../ports/system.ts';
import { type ConnectOptions, type Connection, connect } from './connect.ts';

export interface ConfigMap extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
}

export interface Widget extends KubeObject {
  readonly spec?: { readonly size?: number | bigint; readonly replicas?: number; readonly color?: string };
  readonly status?: { readonly replicas?: number; readonly phase?: string };
}

const core = (plural: string, kind: string, namespaced = true) => ({
  group: '',
  version: 'v1',
  plural,
  kind,
  namespaced,
});
export const configMaps = resource<ConfigMap>(core('configmaps', 'ConfigMap'));
export const namespaces = resource(core('namespaces', 'Namespace', false));
export const pods = resource(core('pods', 'Pod'));
export const widgets = resource<Widget>({
  group: 'test.reeve.dev',
  version: 'v1',
  plural: 'widgets',
  kind: 'Widget',
  namespaced: true,
});
const crds = resource({
  group: 'apiextensions.k8s.io',
  version: 'v1',
  plural: 'customresourcedefinitions',
  kind: 'CustomResourceDefinition',
  namespaced: false,
});

/** A connection of its own for one test, closed with it. */
export async function connected(t: TestContext, kube: Kube, options: ConnectOptions = {}): Promise<Connection> {
  const connection = await connect(systemKubePorts(), { file: kube.kubeconfig, ...options });
  t.after(() => connection.close());
  return connection;
}

/** A namespace of its own for one test. The controllers that would empty it do not run, so it stays. */
export async function ownNamespace({ client }: Connection, name: string): Promise<string> {
  await client.resource(namespaces).create({ metadata: { name } });
  return name;
}

export async function installWidgets({ client }: Connection): Promise<void> {
  const integer = { type: 'integer', format: 'int64' };
  const replicas = { type: 'integer', format: 'int32' };
  const schema = {
    type: 'object',
    properties: {
      spec: { type: 'object', properties: { size: integer, replicas, color: { type: 'string' } } },
      status: { type: 'object', properties: { replicas, phase: { type: 'string' } } },
    },
  };
  const scale = { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' };
  const version = { subresources: { status: {}, scale } };
  await client.resource(crds).apply(definitionOf({ group: 'test.reeve.dev', kind: 'Widget', schema, version }));
}

/** For `assert.rejects`: one of our errors with this code. */
export const failing =
  (code: KubeErrorCode, pattern = /./) =>
  (error: unknown): boolean =>
    isKubeError(error, code) && pattern.test(error.message);

/** `A name`, `M name`, `D name`, `@` for a bookmark and `@!` for the one that ends the initial events. */
export function brief(event: WatchEvent<KubeObject>): string {
  if (event.type === 'BOOKMARK') return event.initialEventsEnd ? '@!' : '@';
  return `${event.type[0]} ${event.object.metadata.name}`;
}
