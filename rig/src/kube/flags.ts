/** The command lines of the control plane. Loopback only, one of each, authorization as in a real cluster. */
export interface EtcdFlags {
  readonly folder: string;
  /** For gRPC alone, as etcd wants it under load. */
  readonly clientPort: number;
  readonly httpPort: number;
  readonly peerPort: number;
  readonly isDurable: boolean;
}

export function etcdFlags({ folder, clientPort, httpPort, peerPort, isDurable }: EtcdFlags): readonly string[] {
  const client = `http://127.0.0.1:${clientPort}`;
  const peer = `http://127.0.0.1:${peerPort}`;
  return [
    `--data-dir=${folder}`,
    `--listen-client-urls=${client}`,
    `--listen-client-http-urls=http://127.0.0.1:${httpPort}`,
    `--advertise-client-urls=${client}`,
    `--listen-peer-urls=${peer}`,
    `--initial-advertise-peer-urls=${peer}`,
    '--name=rig',
    `--initial-cluster=rig=${peer}`,
    '--log-level=warn',
    // As kubeadm sets it: without it the server does not learn that a quiet kind is up to date, and sends no bookmarks for it.
    '--watch-progress-notify-interval=5s',
    `--quota-backend-bytes=${8 * 1024 ** 3}`,
    ...(isDurable ? [] : ['--unsafe-no-fsync']),
  ];
}

export interface ApiserverFlags {
  readonly etcdPort: number;
  readonly port: number;
  readonly folder: string;
  readonly caFile: string;
  readonly certFile: string;
  readonly keyFile: string;
  readonly serviceAccount: { readonly privateFile: string; readonly publicFile: string };
  /** Whether something makes the service accounts that pods need. */
  readonly hasControllers: boolean;
  readonly more: readonly string[];
}

export function apiserverFlags(of: ApiserverFlags): readonly string[] {
  return [
    `--etcd-servers=http://127.0.0.1:${of.etcdPort}`,
    '--bind-address=127.0.0.1',
    `--secure-port=${of.port}`,
    `--cert-dir=${of.folder}`,
    `--tls-cert-file=${of.certFile}`,
    `--tls-private-key-file=${of.keyFile}`,
    `--client-ca-file=${of.caFile}`,
    '--authorization-mode=Node,RBAC',
    '--enable-admission-plugins=NodeRestriction',
    `--service-account-key-file=${of.serviceAccount.publicFile}`,
    `--service-account-signing-key-file=${of.serviceAccount.privateFile}`,
    '--service-account-issuer=https://kubernetes.default.svc',
    '--service-cluster-ip-range=10.96.0.0/16',
    '--allow-privileged=true',
    // The address of the Service `kubernetes` may not be a loopback one, and nobody here uses it.
    '--endpoint-reconciler-type=none',
    // Nobody makes service accounts: pods could not be created at all.
    ...(of.hasControllers ? [] : ['--disable-admission-plugins=ServiceAccount']),
    ...of.more,
  ];
}

export interface ControllerFlags {
  readonly kubeconfig: string;
  readonly port: number;
  readonly folder: string;
  readonly caFile: string;
  readonly caKeyFile: string;
  readonly serviceAccountKeyFile: string;
}

export function controllerFlags(of: ControllerFlags): readonly string[] {
  return [
    `--kubeconfig=${of.kubeconfig}`,
    `--authentication-kubeconfig=${of.kubeconfig}`,
    `--authorization-kubeconfig=${of.kubeconfig}`,
    '--bind-address=127.0.0.1',
    `--secure-port=${of.port}`,
    `--cert-dir=${of.folder}`,
    `--service-account-private-key-file=${of.serviceAccountKeyFile}`,
    `--root-ca-file=${of.caFile}`,
    `--cluster-signing-cert-file=${of.caFile}`,
    `--cluster-signing-key-file=${of.caKeyFile}`,
    '--use-service-account-credentials',
    '--leader-elect=false',
    // The defaults (20 a second) are for large clusters; here nobody else is served.
    '--kube-api-qps=300',
    '--kube-api-burst=600',
  ];
}
