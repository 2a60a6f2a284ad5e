package main

import (
	"context"
	"os"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	applycore "k8s.io/client-go/applyconfigurations/core/v1"
	applymeta "k8s.io/client-go/applyconfigurations/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

const finalizer = "go.example.com/gear"

var gearKind = schema.GroupVersionKind{Group: "go.example.com", Version: "v1", Kind: "Gear"}

func gear() *unstructured.Unstructured {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(gearKind)
	return object
}

// gears makes a config map of each gear, says so in the gear's status, and holds the gear until the map is gone.
type gears struct{ client.Client }

func (g gears) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	live := gear()
	if err := g.Get(ctx, request.NamespacedName, live); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	before := live.DeepCopy()
	if !live.GetDeletionTimestamp().IsZero() {
		made := &corev1.ConfigMap{}
		made.Name, made.Namespace = live.GetName(), live.GetNamespace()
		if err := client.IgnoreNotFound(g.Delete(ctx, made)); err != nil {
			return ctrl.Result{}, err
		}
		controllerutil.RemoveFinalizer(live, finalizer)
		return ctrl.Result{}, client.IgnoreNotFound(g.Patch(ctx, live, client.MergeFrom(before)))
	}
	if controllerutil.AddFinalizer(live, finalizer) {
		return ctrl.Result{}, g.Update(ctx, live)
	}
	teeth, _, _ := unstructured.NestedString(live.Object, "spec", "teeth")
	owner := applymeta.OwnerReference().WithAPIVersion("go.example.com/v1").WithKind("Gear").
		WithName(live.GetName()).WithUID(live.GetUID()).WithController(true)
	made := applycore.ConfigMap(live.GetName(), live.GetNamespace()).
		WithOwnerReferences(owner).WithData(map[string]string{"teeth": teeth})
	if err := g.Apply(ctx, made, client.FieldOwner("gears"), client.ForceOwnership); err != nil {
		return ctrl.Result{}, err
	}
	if err := unstructured.SetNestedField(live.Object, teeth, "status", "teeth"); err != nil {
		return ctrl.Result{}, err
	}
	return ctrl.Result{}, g.Status().Patch(ctx, live, client.MergeFrom(before))
}

func manage(ctx context.Context, config *rest.Config) error {
	ctrl.SetLogger(klog.Background())
	// Longer than a server is away here; who ends well gives the lease back.
	lease, renew, retry := 60*time.Second, 50*time.Second, 200*time.Millisecond
	manager, err := ctrl.NewManager(config, ctrl.Options{
		Metrics:                       metricsserver.Options{BindAddress: "0"},
		LeaderElection:                true,
		LeaderElectionID:              "gears",
		LeaderElectionNamespace:       "default",
		LeaderElectionReleaseOnCancel: true,
		LeaseDuration:                 &lease,
		RenewDeadline:                 &renew,
		RetryPeriod:                   &retry,
	})
	if err != nil {
		return err
	}
	go func() {
		<-manager.Elected()
		say(map[string]string{"leads": os.Args[2]})
	}()
	err = ctrl.NewControllerManagedBy(manager).For(gear()).Owns(&corev1.ConfigMap{}).
		Complete(gears{manager.GetClient()})
	if err != nil {
		return err
	}
	return manager.Start(ctx)
}
