/** What a node is: its name, where it stands, what it can hold, and what its pods are told. */
import type { Taint } from '../kinds/node.ts';

export interface NodeFacts {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly taints: readonly Taint[];
  readonly capacity: Readonly<Record<string, string>>;
  /** Of the machine itself: pods with `hostNetwork` have it, too. */
  readonly address: string;
  /** Where pods find the API server, if they may know. */
  readonly apiServer:
    | {
        readonly host: string;
        readonly port: number;
        /** Its authority, which somebody publishes as `kube-root-ca.crt`. */
        readonly ca?: string;
        /** It puts the token of its account into every pod, as Kubernetes does; else the node does it for pods that name one. */
        readonly givesTokens?: boolean;
      }
    | undefined;
  readonly hostPathRoots: readonly string[];
  /** What programs can be run here. Default: nobody is told. */
  readonly system?: SystemFacts;
  /** It keeps the pods that it has and takes no others. Default: it takes pods. */
  readonly isRetired?: boolean;
}

/** Of the machine below. */
export interface SystemFacts {
  /** As Kubernetes names it: `amd64`. */
  readonly architecture: string;
  readonly kernelVersion: string;
  readonly osImage: string;
  /** Of the program that runs the node. */
  readonly version: string;
}
