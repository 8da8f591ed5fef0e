// What every page does. One behaviour a module, each bound by data- attributes.
import "./announce.js";
import "./auto_submit.js";
import "./confirm.js";
import "./focus.js";
import "./keyboard.js";
import "./menus.js";
import "./signed_out.js";
import "./theme_toggle.js";
import "./times.js";
import "./typed_early.js";
