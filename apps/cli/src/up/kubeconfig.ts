/** How clients find the control plane: a kubeconfig as kubectl reads it. JSON is YAML, too. */
export interface Place {
  readonly url: string;
  readonly token: string;
  /** In PEM. */
  readonly ca: string;
}

export function kubeconfigText({ url, token, ca }: Place): string {
  const name = 'reeve';
  const authority = Buffer.from(ca).toString('base64');
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name, cluster: { server: url, 'certificate-authority-data': authority } }],
    users: [{ name, user: { token } }],
    contexts: [{ name, context: { cluster: name, user: name, namespace: 'default' } }],
    'current-context': name,
  };
  return `${JSON.stringify(config, undefined, 2)}\n`;
}

/** The port of a kubeconfig that was written here before: pods that go on know it. */
export function portOf(text: string): number | undefined {
  try {
    const { clusters } = JSON.parse(text) as {
      readonly clusters?: readonly { readonly cluster?: { readonly server?: string } }[];
    };
    const port = Number(new URL(clusters?.[0]?.cluster?.server ?? '').port);
    return Number.isInteger(port) && port > 0 ? port : undefined;
  } catch {
    return undefined; // somebody wrote another one in its place: then any port will do
  }
}
