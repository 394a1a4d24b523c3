/** What a kubeconfig says, read and merged: clusters, users and contexts by name. */

/** Content given in place, or a file that holds it. Files may change while we run and are read again. */
export type Source = { readonly text: string } | { readonly file: string };

export interface ClusterEntry {
  readonly server: string;
  readonly ca: Source | undefined;
  readonly tlsServerName: string | undefined;
  readonly insecure: boolean;
  readonly proxyUrl: string | undefined;
  /** What the extension `client.authentication.k8s.io/exec` holds: passed to credential plugins, for whom it is. */
  readonly execConfig: unknown;
}

export type InteractiveMode = 'Never' | 'IfAvailable' | 'Always';

export interface ExecEntry {
  readonly apiVersion: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly installHint: string | undefined;
  readonly provideClusterInfo: boolean;
  readonly interactiveMode: InteractiveMode;
}

export interface Impersonation {
  readonly user: string;
  readonly uid: string | undefined;
  readonly groups: readonly string[];
  readonly extra: Readonly<Record<string, readonly string[]>>;
}

export interface UserEntry {
  readonly certificate: Source | undefined;
  readonly key: Source | undefined;
  readonly token: Source | undefined;
  readonly basic: { readonly username: string; readonly password: string } | undefined;
  readonly exec: ExecEntry | undefined;
  readonly impersonate: Impersonation | undefined;
  /** The name of a provider that client-go dropped, too; refused when the user is used. */
  readonly authProvider: string | undefined;
}

export interface ContextEntry {
  readonly cluster: string;
  readonly user: string | undefined;
  readonly namespace: string | undefined;
}

export interface Kubeconfig {
  readonly currentContext: string | undefined;
  readonly clusters: ReadonlyMap<string, ClusterEntry>;
  readonly users: ReadonlyMap<string, UserEntry>;
  readonly contexts: ReadonlyMap<string, ContextEntry>;
}

/** Everything about one cluster and one user that is needed to talk. */
export interface ResolvedContext {
  /** Where it came from, for messages: a context's name, or `in-cluster`. */
  readonly name: string;
  readonly namespace: string;
  readonly cluster: ClusterEntry;
  readonly user: UserEntry;
}

export const anonymous: UserEntry = {
  certificate: undefined,
  key: undefined,
  token: undefined,
  basic: undefined,
  exec: undefined,
  impersonate: undefined,
  authProvider: undefined,
};
