/** How clients find the control plane: a kubeconfig as kubectl reads it. JSON is YAML, too. */
export interface Place {
  readonly url: string;
  readonly token: string;
}

export function kubeconfigText({ url, token }: Place): string {
  const name = 'reeve';
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name, cluster: { server: url } }],
    users: [{ name, user: { token } }],
    contexts: [{ name, context: { cluster: name, user: name, namespace: 'default' } }],
    'current-context': name,
  };
  return `${JSON.stringify(config, undefined, 2)}\n`;
}
