import { useData } from "vitepress";
import DefaultTheme from "vitepress/theme-without-fonts";
import { watchEffect } from "vue";
import "@fontsource-variable/geist/wght.css";
import "@fontsource-variable/geist-mono/wght.css";
import "./theme.css";

export default {
  extends: DefaultTheme,
  setup() {
    const { frontmatter } = useData();
    // The theme's home page has no element `main`.
    watchEffect(
      () => {
        const content = globalThis.document?.getElementById("VPContent");
        if (frontmatter.value.layout === "home") content?.setAttribute("role", "main");
        else content?.removeAttribute("role");
      },
      { flush: "post" },
    );
  },
};
