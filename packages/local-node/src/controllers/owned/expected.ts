/** What goes wrong in the normal course of things, and is no failure of a controller. */
import { isKubeError, type KubeError } from '@reeve/kube';
import { finished, retry, type Verdict } from '@reeve/runtime';

/** Pods come and go by dozens: a set that looks at each of them is not in a circle. */
export const BUSY = { perSecond: 100 } as const;

type Reconciling<W> = (work: W) => Promise<Verdict | void>;

/**
 * Somebody else wrote the object meanwhile: again, with what it is now. The namespace is being emptied, so that nothing new can be made:
 * then what should be there need not be.
 */
export function expecting<W>(reconcile: Reconciling<W>): Reconciling<W> {
  return async (work) => {
    try {
      return await reconcile(work);
    } catch (error) {
      if (isKubeError(error, 'KUBE_CONFLICT')) return retry;
      if (isKubeError(error, 'KUBE_FORBIDDEN') && isNamespaceTerminating(error)) return finished;
      throw error;
    }
  };
}

function isNamespaceTerminating({ status }: KubeError): boolean {
  return status?.details?.causes?.some(({ reason }) => reason === 'NamespaceTerminating') ?? false;
}
