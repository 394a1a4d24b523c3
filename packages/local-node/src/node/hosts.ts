/** The pod's own `/etc/hosts`. */
import { join } from 'node:path';
import type { Mount } from '../driver/driver.ts';
import type { StoredPod } from '../pod/view.ts';

export function hostsText({ metadata, spec }: StoredPod, address: string): string {
  const hostname = spec?.hostname ?? metadata.name;
  const domain = `${spec?.subdomain}.${metadata.namespace}.svc.cluster.local`;
  const names = spec?.subdomain === undefined ? hostname : `${hostname}.${domain} ${hostname}`;
  return ['127.0.0.1\tlocalhost', '::1\tlocalhost ip6-localhost ip6-loopback', `${address}\t${names}`, ''].join('\n');
}

export function hostsMount(podFolder: string): Mount {
  return { source: join(podFolder, 'hosts'), target: '/etc/hosts', isReadOnly: false, isFile: true };
}
