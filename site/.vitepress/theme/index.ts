import DefaultTheme from 'vitepress/theme'
import { defineAsyncComponent } from 'vue'
import type { Theme } from 'vitepress'
import Gallery from './Gallery.vue'
import './playground.css'

export default {
  extends: DefaultTheme,
  enhanceApp({ app }) {
    app.component('Gallery', Gallery)
    app.component('Playground', defineAsyncComponent(() => import('./Playground.vue')))
  },
} satisfies Theme
