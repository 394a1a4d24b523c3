/** Builds the Kubernetes programs from Go modules: once for each state of `rig/kube` and version of Go. */
import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { builtFromGo, goBuildKey } from '../binaries/go-build.ts';

export const KUBE_VERSION = '1.36.3';
export const ETCD_VERSION = '3.6.8';

const MODULE = fileURLToPath(new URL('../../kube/', import.meta.url));

const PACKAGES = [
  'k8s.io/kubernetes/cmd/kube-apiserver',
  'k8s.io/kubernetes/cmd/kube-controller-manager',
  'k8s.io/kubernetes/cmd/kubectl',
  'go.etcd.io/etcd/server/v3',
];

/** Kubernetes learns its version from the linker; without it a server would call itself v0.0.0. */
function linkerFlags(): string {
  const [major, minor] = KUBE_VERSION.split('.');
  const version = {
    'k8s.io/component-base/version.gitVersion': `v${KUBE_VERSION}`,
    'k8s.io/component-base/version.gitMajor': major,
    'k8s.io/component-base/version.gitMinor': minor,
    'k8s.io/client-go/pkg/version.gitVersion': `v${KUBE_VERSION}`,
  };
  return ['-s', '-w', ...Object.entries(version).map(([name, value]) => `-X ${name}=${value}`)].join(' ');
}

export function builtPrograms(): Promise<string> {
  return builtFromGo({
    module: MODULE,
    name: `kube-${KUBE_VERSION}`,
    label: `etcd ${ETCD_VERSION} and Kubernetes ${KUBE_VERSION}`,
    packages: PACKAGES,
    linkerFlags: linkerFlags(),
    files: ['go.mod', 'go.sum'],
    withoutGo: `kube-apiserver ${KUBE_VERSION} and its companions are neither in KUBEBUILDER_ASSETS nor on PATH, and Go, which builds them, is not on PATH either: install one of these`,
    finish: (folder) => rename(join(folder, 'server'), join(folder, 'etcd')),
  });
}

export function buildKey(compiler: string, files: readonly string[]): string {
  return goBuildKey([...files, compiler, linkerFlags(), ...PACKAGES]);
}
