import { mount } from "svelte";
import "./app.css";
import App from "./App.svelte";
import { router } from "./lib/router.svelte";
import { settings } from "./lib/state/settings.svelte";

router.start();
const target = document.getElementById("app");
if (target) void settings.loadLanguage().then(() => mount(App, { target }));
