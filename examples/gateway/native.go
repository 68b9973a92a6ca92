package main

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"maps"
	"net/http"
	"slices"

	"github.com/hookgen/hookgen/hookkit"

	"example.com/gateway/points"
)

// native has the plug-ins that are a part of this program.
var native = map[string]func() points.Hook{
	"request-id":  func() points.Hook { return points.UpstreamHeadersFunc(requestID) },
	"access-log":  func() points.Hook { return points.OnDoneFunc(accessLog) },
	"retry":       func() points.Hook { return points.AroundUpstreamFunc(retry) },
	"keep-routes": func() points.Hook { return points.CheckReloadFunc(keepRoutes) },
}

func nativeNames() []string { return slices.Sorted(maps.Keys(native)) }

func requestID(context.Context, *points.Run, points.Request) ([]points.Header, error) {
	return []points.Header{{Name: "X-Request-Id", Value: rand.Text()}}, nil
}

func accessLog(ctx context.Context, _ *points.Run, d points.Done) error {
	slog.InfoContext(ctx, "request", "route", d.Route, "method", d.Method, "path", d.Target.Path, "status", d.Status,
		"bytes", d.Bytes, "elapsed", d.Elapsed, "decidedBy", d.DecidedBy)
	return nil
}

// retry sends a request without a body again if the upstream did not respond.
func retry(
	ctx context.Context, _ *points.Run, e points.Exchange, next points.AroundUpstreamNext,
) (hookkit.Answer[*http.Response], error) {
	answer, err := next.Call(ctx, e)
	if err != nil && ctx.Err() == nil && (e.Request.Body == nil || e.Request.Body == http.NoBody) {
		answer, err = next.Call(ctx, e)
	}
	return answer, err
}

// keepRoutes refuses a configuration without the catch-all route.
func keepRoutes(_ context.Context, _ *points.Run, r points.Reload) error {
	if !slices.Contains(r.Routes, "/") {
		return errors.New(`the configuration has no route "/"; add one, or remove the plug-in keep-routes first`)
	}
	return nil
}
