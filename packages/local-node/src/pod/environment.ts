/** The command line and the environment of a container. Pure: what it refers to was read before. */
import { fieldOf, resourceOf, type Surroundings } from './downward.ts';
import type { PodContainer } from './progress.ts';
import type { StoredPod } from './view.ts';

/** What was read of config maps and secrets: their data by name; null: there is none of that name. */
export interface ReadSources {
  readonly configMaps: Readonly<Record<string, Readonly<Record<string, string>> | null>>;
  readonly secrets: Readonly<Record<string, Readonly<Record<string, string>> | null>>;
}

/** The pod asks for something that is not there. It may come: the container waits. */
export class ConfigProblem extends Error {}

export interface EnvironmentInput {
  readonly pod: StoredPod;
  readonly container: PodContainer;
  readonly sources: ReadSources;
  readonly around: Surroundings;
  /** What the node gives to every container: may be used in values, and overridden. */
  readonly given: Readonly<Record<string, string>>;
}

export function environmentOf(input: EnvironmentInput): Readonly<Record<string, string>> {
  const { container, sources, given } = input;
  const env: Record<string, string> = { ...given };
  for (const { prefix = '', configMapRef, secretRef } of container.envFrom ?? []) {
    const data = configMapRef
      ? dataOf('configmap', configMapRef, sources.configMaps)
      : secretRef && dataOf('secret', secretRef, sources.secrets);
    for (const [key, value] of Object.entries(data ?? {})) env[`${prefix}${key}`] = value;
  }
  for (const { name, value, valueFrom } of container.env ?? []) {
    const found = valueFrom ? valueOf(input, valueFrom) : expand(value ?? '', env);
    if (found !== undefined) env[name] = found;
  }
  return env;
}

type Reference = { readonly name: string; readonly optional?: boolean | undefined };

function dataOf(
  kind: string,
  { name, optional }: Reference,
  from: ReadSources['configMaps'],
): Readonly<Record<string, string>> | undefined {
  const data = from[name];
  if (data) return data;
  if (optional) return undefined;
  throw new ConfigProblem(`${kind} "${name}" not found`);
}

type ValueFrom = NonNullable<NonNullable<PodContainer['env']>[number]['valueFrom']>;

function valueOf({ pod, container, sources, around }: EnvironmentInput, from: ValueFrom): string | undefined {
  const { fieldRef, resourceFieldRef, configMapKeyRef, secretKeyRef } = from;
  if (fieldRef) {
    const value = fieldOf(pod, fieldRef.fieldPath, around);
    if (value === undefined) throw new ConfigProblem(`field ${fieldRef.fieldPath} is not one that a pod can be told`);
    return value;
  }
  if (resourceFieldRef) {
    const all = [...(pod.spec?.initContainers ?? []), ...(pod.spec?.containers ?? [])];
    const value = resourceOf(all, container.name, resourceFieldRef, around);
    if (value === undefined) throw new ConfigProblem(`resource ${resourceFieldRef.resource} is not known`);
    return value;
  }
  if (configMapKeyRef)
    return keyOf('ConfigMap', configMapKeyRef, dataOf('configmap', configMapKeyRef, sources.configMaps));
  if (secretKeyRef) return keyOf('Secret', secretKeyRef, dataOf('secret', secretKeyRef, sources.secrets));
  return undefined;
}

function keyOf(
  kind: string,
  { name, key, optional }: Reference & { readonly key: string },
  data: Readonly<Record<string, string>> | undefined,
): string | undefined {
  const value = data?.[key];
  if (value === undefined && data && !optional) throw new ConfigProblem(`couldn't find key ${key} in ${kind} ${name}`);
  return value;
}

/** `$(NAME)` becomes its value, `$$(NAME)` the text `$(NAME)`; what is not known stays as it is. */
export function expand(text: string, env: Readonly<Record<string, string>>): string {
  return text.replaceAll(/\$(\$|\(([^)]*)\))/g, (whole, first: string, name: string | undefined) => {
    if (first === '$') return '$';
    return (name !== undefined && Object.hasOwn(env, name) ? env[name] : undefined) ?? whole;
  });
}

export interface ImageCommand {
  readonly entrypoint: readonly string[];
  readonly command: readonly string[];
  /** What people call the program of its entrypoint, if whoever calls it by that name means the entrypoint. */
  readonly program?: string;
}

/**
 * Many write a server's name as the command, or as the first argument, as images in registries want it. Such a container runs by the
 * image's own entrypoint, with the rest as arguments: only so is the server told its address.
 */
export function byEntrypoint(container: PodContainer, { program }: ImageCommand): PodContainer {
  const { command = [], args = [], ...others } = container;
  const [first = '', ...rest] = [...command, ...args];
  if (program === undefined || first.slice(first.lastIndexOf('/') + 1) !== program) return container;
  return { ...others, args: rest };
}

/** A command takes the place of the image's entrypoint and of its arguments; arguments alone only that of its arguments. */
export function commandOf(
  { command, args }: PodContainer,
  image: ImageCommand,
  env: Readonly<Record<string, string>>,
): readonly string[] {
  const own = (command ?? []).length > 0;
  const first = own ? (command ?? []) : image.entrypoint;
  const rest = (args ?? []).length > 0 ? (args ?? []) : own ? [] : image.command;
  return [...first, ...rest].map((word) => expand(word, env));
}

/** Names of the config maps and secrets that the environment of a container refers to. */
export function referencesOf(containers: readonly PodContainer[]): {
  readonly configMaps: readonly string[];
  readonly secrets: readonly string[];
} {
  const configMaps = new Set<string>();
  const secrets = new Set<string>();
  for (const { env = [], envFrom = [] } of containers) {
    for (const { configMapRef, secretRef } of envFrom) {
      if (configMapRef) configMaps.add(configMapRef.name);
      if (secretRef) secrets.add(secretRef.name);
    }
    for (const { valueFrom } of env) {
      if (valueFrom?.configMapKeyRef) configMaps.add(valueFrom.configMapKeyRef.name);
      if (valueFrom?.secretKeyRef) secrets.add(valueFrom.secretKeyRef.name);
    }
  }
  return { configMaps: [...configMaps], secrets: [...secrets] };
}
