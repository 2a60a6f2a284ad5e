// Package suites is the suite in Go: see the README beside this folder. SUITE_PEER names the programs of a real
// kube-apiserver, which envtest starts.
package suites

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	binnacle "binnacle.example/testing"
	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

const timeout = 20 * time.Second

var (
	kind  = schema.GroupVersionKind{Group: "suites.example.com", Version: "v1", Kind: "Widget"}
	paths = []string{"../widgets.json"}
	base  *binnacle.Environment
)

func TestMain(m *testing.M) {
	log.SetLogger(logr.Discard())
	if os.Getenv("SUITE_PEER") == "" {
		base = &binnacle.Environment{CRDDirectoryPaths: paths}
		if _, err := base.Start(); err != nil {
			panic(err)
		}
	}
	code := m.Run()
	if base != nil {
		_ = base.Stop()
	}
	os.Exit(code)
}

// start gives the test a cluster of its own.
func start(t *testing.T) *rest.Config {
	t.Helper()
	if base != nil {
		fork, err := base.Fork()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = fork.Stop() })
		return fork.Config
	}
	peer := &envtest.Environment{BinaryAssetsDirectory: os.Getenv("SUITE_PEER"), CRDDirectoryPaths: paths}
	started, err := peer.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = peer.Stop() })
	return started
}

type scene struct {
	client.Client
	t *testing.T
}

// open starts a cluster and the controller in front of it.
func open(t *testing.T) scene {
	t.Helper()
	manager, err := ctrl.NewManager(start(t), ctrl.Options{
		Metrics:    server.Options{BindAddress: "0"},
		Controller: config.Controller{SkipNameValidation: new(true)},
	})
	if err != nil {
		t.Fatal(err)
	}
	s := scene{manager.GetClient(), t}
	live, err := client.New(manager.GetConfig(), client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	owner := handler.EnqueueRequestsFromMapFunc(func(_ context.Context, child client.Object) []reconcile.Request {
		return []reconcile.Request{{NamespacedName: named(child.GetLabels()["widget"])}}
	})
	err = ctrl.NewControllerManagedBy(manager).Named("widgets").For(widget("")).
		Watches(&corev1.ConfigMap{}, owner).Complete(reconcile.Func(s.reconcile))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	over := make(chan error)
	go func() { over <- manager.Start(ctx) }()
	t.Cleanup(func() { cancel(); <-over })
	return scene{live, t}
}

func named(name string) types.NamespacedName {
	return types.NamespacedName{Namespace: "default", Name: name}
}

func widget(name string) *unstructured.Unstructured {
	w := &unstructured.Unstructured{}
	w.SetGroupVersionKind(kind)
	w.SetNamespace("default")
	w.SetName(name)
	return w
}

func sizeOf(w *unstructured.Unstructured) int64 {
	size, _, _ := unstructured.NestedInt64(w.Object, "spec", "size")
	return size
}

func (s scene) reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	var none reconcile.Result
	w := widget("")
	if err := s.Get(ctx, request.NamespacedName, w); err != nil {
		return none, client.IgnoreNotFound(err)
	}
	var found corev1.ConfigMapList
	selector := client.MatchingLabels{"widget": request.Name}
	if err := s.List(ctx, &found, client.InNamespace("default"), selector); err != nil {
		return none, err
	}
	wanted := map[string]bool{}
	for i := range sizeOf(w) {
		wanted[fmt.Sprintf("%s-%d", request.Name, i)] = true
	}
	for _, child := range found.Items {
		var err error
		if !wanted[child.Name] {
			err = s.Delete(ctx, &child)
		} else if child.Data["of"] != request.Name {
			child.Data = map[string]string{"of": request.Name}
			err = s.Update(ctx, &child)
		}
		if client.IgnoreNotFound(err) != nil {
			return none, err
		}
		delete(wanted, child.Name)
	}
	for name := range wanted {
		child := &corev1.ConfigMap{Data: map[string]string{"of": request.Name}}
		child.ObjectMeta = metav1.ObjectMeta{Namespace: "default", Name: name, Labels: selector}
		if err := s.Create(ctx, child); err != nil && !errors.IsAlreadyExists(err) {
			return none, err
		}
	}
	if err := unstructured.SetNestedField(w.Object, sizeOf(w), "status", "children"); err != nil {
		return none, err
	}
	return none, s.Status().Update(ctx, w)
}

func (s scene) check(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

func (s scene) make(name string, size int64) error {
	w := widget(name)
	w.Object["spec"] = map[string]any{"size": size}
	return s.Create(context.Background(), w)
}

func (s scene) resize(name string, size int64) {
	s.t.Helper()
	patch := fmt.Appendf(nil, `{"spec":{"size":%d}}`, size)
	s.check(s.Patch(context.Background(), widget(name), client.RawPatch(types.MergePatchType, patch)))
}

func (s scene) children(name string) []corev1.ConfigMap {
	s.t.Helper()
	var found corev1.ConfigMapList
	s.check(s.List(context.Background(), &found, client.InNamespace("default"), client.MatchingLabels{"widget": name}))
	return found.Items
}

func (s scene) counts(name string, want int64) func() bool {
	return func() bool {
		w := widget(name)
		s.check(s.Get(context.Background(), named(name), w))
		count, known, _ := unstructured.NestedInt64(w.Object, "status", "children")
		return known && count == want
	}
}

func (s scene) has(name string, want int) func() bool {
	return func() bool { return len(s.children(name)) == want }
}

func (s scene) eventually(condition func() bool) {
	s.t.Helper()
	for end := time.Now().Add(timeout); !condition(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			s.t.Fatalf("the condition does not hold within %s", timeout)
		}
	}
}

func TestCreatesChildren(t *testing.T) {
	s := open(t)
	s.check(s.make("a", 3))
	s.eventually(s.has("a", 3))
}

func TestCountsChildren(t *testing.T) {
	s := open(t)
	s.check(s.make("a", 2))
	s.eventually(s.counts("a", 2))
}

func TestGrows(t *testing.T) {
	s := open(t)
	s.check(s.make("a", 1))
	s.eventually(s.counts("a", 1))
	s.resize("a", 4)
	s.eventually(s.has("a", 4))
}

func TestShrinks(t *testing.T) {
	s := open(t)
	s.check(s.make("a", 3))
	s.eventually(s.counts("a", 3))
	s.resize("a", 1)
	s.eventually(s.has("a", 1))
}

func TestReplacesADeletedChild(t *testing.T) {
	s := open(t)
	s.check(s.make("a", 2))
	s.eventually(s.has("a", 2))
	child := s.children("a")[0]
	s.check(s.Delete(context.Background(), &child))
	s.eventually(s.has("a", 2))
}

func TestRepairsAChangedChild(t *testing.T) {
	s := open(t)
	s.check(s.make("a", 1))
	s.eventually(s.has("a", 1))
	patch := client.RawPatch(types.MergePatchType, []byte(`{"data":{"of":"b"}}`))
	child := s.children("a")[0]
	s.check(s.Patch(context.Background(), &child, patch))
	s.eventually(func() bool { return s.children("a")[0].Data["of"] == "a" })
}

func TestKeepsWidgetsApart(t *testing.T) {
	s := open(t)
	s.check(s.make("a", 1))
	s.check(s.make("b", 2))
	s.eventually(s.counts("a", 1))
	s.eventually(s.counts("b", 2))
	s.eventually(s.has("b", 2))
}

func TestRefusesTooMany(t *testing.T) {
	s := open(t)
	if err := s.make("a", 6); !errors.IsInvalid(err) {
		t.Fatalf("want 422, got %v", err)
	}
}
