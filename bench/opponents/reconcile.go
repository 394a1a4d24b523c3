package main

import (
	"context"
	"fmt"
	"sync"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	controllerruntime "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
	controllerreconcile "sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// Brings status.revision to spec.revision, with one write of the status: the smallest reconcile that writes. It waits until the
// gate is open: until then keys gather in the queue.
type follower struct {
	client.Client
	counted *counter
	gate    chan struct{}
	applies bool
}

func (f *follower) Reconcile(ctx context.Context, request controllerreconcile.Request) (controllerreconcile.Result, error) {
	<-f.gate
	var object widget
	if err := f.Get(ctx, request.NamespacedName, &object); err != nil {
		return controllerreconcile.Result{}, client.IgnoreNotFound(err)
	}
	if object.Status.Revision == object.Spec.Revision {
		return controllerreconcile.Result{}, nil
	}
	if err := f.write(ctx, &object, widgetStatus{Revision: object.Spec.Revision, Phase: "Ready"}); err != nil {
		return controllerreconcile.Result{}, client.IgnoreNotFound(err)
	}
	f.counted.add()
	return controllerreconcile.Result{}, nil
}

// A merge patch of what changed, as most controllers do it, or a server-side apply, as ours does it.
func (f *follower) write(ctx context.Context, object *widget, status widgetStatus) error {
	if !f.applies {
		before := object.DeepCopyObject().(*widget)
		object.Status = status
		return f.Status().Patch(ctx, object, client.MergeFrom(before))
	}
	wanted := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "bench.reeve.dev/v1",
		"kind":       "Widget",
		"metadata": map[string]any{
			"name": object.Name, "namespace": object.Namespace, "resourceVersion": object.ResourceVersion,
		},
		"status": map[string]any{"revision": status.Revision, "phase": status.Phase},
	}}
	return f.Status().Patch(ctx, wanted, client.Apply, client.FieldOwner("bench"), client.ForceOwnership)
}

func reconcile(config *rest.Config, of options) error {
	log.SetLogger(logr.Discard())
	manager, err := controllerruntime.NewManager(config, controllerruntime.Options{
		Scheme:  widgetScheme(),
		Metrics: server.Options{BindAddress: "0"},
		Cache:   cache.Options{DefaultNamespaces: map[string]cache.Config{of.namespace: {}}},
	})
	if err != nil {
		return err
	}
	counted := newCounter()
	gate := make(chan struct{})
	var once sync.Once
	err = controllerruntime.NewControllerManagedBy(manager).
		For(&widget{}).
		WithOptions(controller.Options{MaxConcurrentReconciles: of.concurrency}).
		Complete(&follower{Client: manager.GetClient(), counted: counted, gate: gate, applies: of.flavour == "apply"})
	if err != nil {
		return err
	}
	ctx := context.Background()
	heap := heapBytes()
	go func() {
		if err := manager.Start(ctx); err != nil {
			fail(err)
		}
	}()
	// The first waits for the caches to start, the second for the list of this kind.
	if !manager.GetCache().WaitForCacheSync(ctx) {
		return fmt.Errorf("the caches did not start")
	}
	if _, err := manager.GetCache().GetInformer(ctx, &widget{}); err != nil {
		return err
	}
	ready(heap)
	objects := func() int {
		var all widgetList
		if err := manager.GetClient().List(ctx, &all); err != nil {
			fail(err)
		}
		return len(all.Items)
	}
	return serve(counted, objects, func() { once.Do(func() { close(gate) }) })
}
