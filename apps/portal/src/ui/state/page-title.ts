import { useRouterState } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'

let lastPath: string | null = null

/**
 * The document's title, and the focus on the page's heading after each navigation, so that a screen reader says where one is. Give the
 * ref to the h1. The first page of a visit keeps the focus where the browser put it.
 */
export function usePageTitle(title: string) {
  const heading = useRef<HTMLHeadingElement>(null)
  const path = useRouterState({ select: (state) => state.resolvedLocation?.pathname ?? state.location.pathname })
  useEffect(() => {
    document.title = `${title} · Bridgework`
  }, [title])
  useEffect(() => {
    if (lastPath !== null && lastPath !== path && !document.querySelector('[role=dialog]')) heading.current?.focus()
    lastPath = path
  }, [path])
  return heading
}
