/** What a node is: its name, where it stands, what it can hold, and what its pods are told. */
import type { Taint } from '../kinds/node.ts';

export interface NodeFacts {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly taints: readonly Taint[];
  readonly capacity: Readonly<Record<string, string>>;
  /** Of the machine itself: pods with `hostNetwork` have it, too. */
  readonly address: string;
  /** Where pods find the API server, if they may know. `ca`: its authority, which somebody publishes as `kube-root-ca.crt`. */
  readonly apiServer: { readonly host: string; readonly port: number; readonly ca?: string } | undefined;
  readonly hostPathRoots: readonly string[];
}
