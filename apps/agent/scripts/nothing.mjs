// Stands in the bundle for packages that are never called.
export {}
